//! The identity of a planned run.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::jobs::identity::{Identity, RETRY_UNKNOWN, RunDescription};
use crate::jobs::plan::{JobPlan, Product};
use crate::jobs::settings::{MatedPolicy, RelabelSettings, SplitSettings, UnknownPolicy};
use crate::mate::judge::MateSettings;
use crate::records::account::InputIdentity;
use crate::records::bad_record::BadPolicy;
use crate::records::filters::RecordFilters;

impl Identity {
    /// The identity of a planned run.
    pub(crate) fn from_plan(plan: &JobPlan) -> Self {
        let run =
            RunDescription::new(plan.product.command(), effective_settings(plan), plan.files.shard);
        Self {
            run,
            inputs: plan.ranges.iter().map(|range| InputIdentity::new(&range.input)).collect(),
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

/// The settings of one kind of product.
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
    Leaves(Option<&'a SplitSettings>),
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
        Product::Leaves => ProductSettings::Leaves(settings.split.as_ref()),
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
            if let Some(previous_run) = &plan.previous_run {
                let parent = serde_json::to_value(&previous_run.parent).unwrap_or_default();
                settings.insert(RETRY_UNKNOWN.to_owned(), parent);
            }
            settings
        }
        _ => unreachable!("a struct is serialised as an object"),
    }
}

/// A value as it is read back from a JSON file. `serde_json::to_value` would widen `f32` to `f64`, which prints digits
/// that the `f32` does not have.
pub(crate) fn as_written(value: &impl Serialize) -> Value {
    let text = serde_json::to_string(value).expect("the value has a JSON form");
    serde_json::from_str(&text).expect("the text was written as JSON")
}
