//! The identity of a run that is about to begin.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::jobs::identity::{Identity, RETRY_UNKNOWN, RunDescription};
use crate::jobs::plan::{JobPlan, Product};
use crate::jobs::settings::{MatedPolicy, RelabelSettings, UnknownPolicy};
use crate::mate::judge::MateSettings;
use crate::records::account::InputIdentity;
use crate::records::bad_record::BadPolicy;
use crate::records::filters::RecordFilters;

impl Identity {
    /// That of a run that is about to begin.
    pub(crate) fn of(plan: &JobPlan) -> Self {
        let run =
            RunDescription::new(plan.product.command(), effective_settings(plan), plan.files.shard);
        Self {
            run,
            inputs: plan.ranges.iter().map(|part| InputIdentity::of(&part.input)).collect(),
        }
    }
}

/// The settings under the long names of the options.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct EffectiveSettings<'a> {
    to: String,
    #[serde(flatten)]
    search: Option<&'a MateSettings>,
    #[serde(flatten)]
    product: ProductSettings<'a>,
    on_error: BadPolicy,
    #[serde(flatten)]
    filters: RecordFilters,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    threads: usize,
}

/// Those that only one of the products has.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", untagged)]
pub(crate) enum ProductSettings<'a> {
    Records {
        mated: MatedPolicy,
        unknown: UnknownPolicy,
        fill: String,
    },
    Rows {
        split: String,
        tsume_plies: bool,
    },
    Evaluated {
        #[serde(flatten)]
        relabel: Option<&'a RelabelSettings>,
        fill: String,
    },
}

pub(crate) fn effective_settings(plan: &JobPlan) -> Map<String, Value> {
    let settings = &plan.settings;
    let product = match &plan.product {
        Product::Records(_) => ProductSettings::Records {
            mated: settings.mated,
            unknown: settings.unknown,
            fill: settings.fill.to_string(),
        },
        Product::Rows(dataset) => ProductSettings::Rows {
            split: dataset.shares.to_string(),
            tsume_plies: dataset.tsume_plies,
        },
        Product::Evaluated(_) => ProductSettings::Evaluated {
            relabel: settings.relabel.as_ref(),
            fill: settings.fill.to_string(),
        },
    };
    let effective = EffectiveSettings {
        to: plan.product.to_string(),
        search: settings.relabel.is_none().then_some(&settings.search),
        product,
        on_error: settings.on_error,
        filters: settings.filters,
        limit: settings.limit,
        threads: settings.threads,
    };
    match as_written(&effective) {
        Value::Object(mut settings) => {
            if let Some(first) = &plan.previous_run {
                let parent = serde_json::to_value(&first.parent).unwrap_or_default();
                settings.insert(RETRY_UNKNOWN.to_owned(), parent);
            }
            settings
        }
        _ => unreachable!("a struct of words and numbers has the form of an object"),
    }
}

/// A value as a file of JSON holds it: numbers of 32 bits in their own digits, not in those of the nearest one of 64.
pub(crate) fn as_written(value: &impl Serialize) -> Value {
    let text = serde_json::to_string(value).expect("numbers and words");
    serde_json::from_str(&text).expect("what was written is read")
}
