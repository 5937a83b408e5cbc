//! Options of functions by the long names of the command line, with `_` for `-`.

use std::path::PathBuf;
use std::str::FromStr;

use kyokumen::format::Fill;
use kyokumen::mate::judge::SearchSettings;
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::filters::RecordFilters;
use kyokumen::records::format_name::FormatName;
use kyokumen::storage::memory::Memory;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::moves::dialect_named;
use crate::solver::word;

/// Keyword arguments that were not taken yet.
pub(crate) struct Options<'py> {
    left: Bound<'py, PyDict>,
}

#[derive(FromPyObject)]
pub(crate) enum Paths {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Paths {
    pub(crate) fn into_vec(self) -> Vec<PathBuf> {
        match self {
            Self::One(path) => vec![path],
            Self::Several(paths) => paths,
        }
    }
}

/// A number of bytes, or text as on the command line.
#[derive(FromPyObject)]
pub(crate) enum Amount {
    Bytes(u64),
    Text(String),
}

/// Fill values as on the command line, or by field.
#[derive(FromPyObject)]
enum Filling<'py> {
    Text(String),
    Fields(Bound<'py, PyDict>),
}

impl Amount {
    pub(crate) fn memory(self) -> Result<Memory, Failure> {
        match self {
            Self::Bytes(bytes) => Ok(Memory::of_bytes(bytes)),
            Self::Text(text) => text.parse().map_err(Failure::usage),
        }
    }
}

impl<'py> Options<'py> {
    pub(crate) fn new(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let left = given.map_or_else(|| Ok(PyDict::new(py)), |given| given.copy())?;
        Ok(Self { left })
    }

    /// Takes the value of an option; None if it is absent or None.
    pub(crate) fn take<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.left.get_item(name)? else { return Ok(None) };
        self.left.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let extracted = value.extract::<T>().map_err(Into::<PyErr>::into);
        let value = extracted.map_err(|error| {
            PyTypeError::new_err(format!("{name}: {}", error.value(value.py())))
        })?;
        Ok(Some(value))
    }

    pub(crate) fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.take(name)?.unwrap_or_default())
    }

    /// False if the option is absent or None.
    pub(crate) fn has(&self, name: &str) -> PyResult<bool> {
        let value = self.left.get_item(name)?;
        Ok(value.is_some_and(|value| !value.is_none()))
    }

    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> PyResult<Option<T>>
    where
        T::Err: std::fmt::Display,
    {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let parsed = text.parse().map_err(|error| Failure::usage(format!("{name}: {error}")));
        Ok(Some(parsed?))
    }

    pub(crate) fn word<T: DeserializeOwned>(&self, name: &str) -> PyResult<Option<T>> {
        let text = self.take::<String>(name)?;
        Ok(text.map(|text| word::<T>(&text)).transpose()?)
    }

    pub(crate) fn memory(&self, name: &str) -> PyResult<Option<Memory>> {
        Ok(self.take::<Amount>(name)?.map(Amount::memory).transpose()?)
    }

    /// Adds options by the long names of the command line. Options that were given take precedence.
    pub(crate) fn add(&self, others: &Map<String, Value>) -> PyResult<()> {
        let json = self.left.py().import("json")?;
        for (name, value) in others {
            let name = match name.replace('-', "_") {
                name if name == "from" => "from_".to_owned(),
                name => name,
            };
            let is_said = !value.is_null() && *value != "";
            if is_said && !self.has(&name)? {
                self.left.set_item(name, json.call_method1("loads", (value.to_string(),))?)?;
            }
        }
        Ok(())
    }

    /// Fails if an option is left, because it is unknown.
    pub(crate) fn end(self) -> PyResult<()> {
        match self.left.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(PyTypeError::new_err(format!("there is no option {name}"))),
        }
    }

    /// Takes `from_` and `dialect`.
    pub(crate) fn reading(
        &self,
    ) -> PyResult<(Option<FormatName>, Option<kyokumen::format::move16::Dialect>)> {
        let dialect = self.take::<String>("dialect")?;
        let dialect = dialect.map(|name| dialect_named(&name)).transpose()?;
        Ok((self.parsed("from_")?, dialect))
    }

    /// `seed` is the option with the seed of the sample.
    pub(crate) fn filters(&self, seed: &str) -> PyResult<RecordFilters> {
        let known = serde_json::to_value(RecordFilters::default()).unwrap_or_default();
        let mut given = Map::new();
        for option in known.as_object().into_iter().flat_map(Map::keys) {
            let name = if option == "seed" { seed.to_owned() } else { option.replace('-', "_") };
            let Some(value) = self.take::<Bound<'py, PyAny>>(&name)? else { continue };
            let value = json_value(&value).map_err(|error| named(&name, &error))?;
            let alone = Map::from_iter([(option.clone(), value.clone())]);
            serde_json::from_value::<RecordFilters>(alone.into())
                .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
            given.insert(option.clone(), value);
        }
        let filters: RecordFilters = serde_json::from_value(given.into())
            .map_err(|error| Failure::usage(error.to_string()))?;
        Ok(filters.with_default_seed())
    }

    pub(crate) fn fill(&self) -> PyResult<Fill> {
        let text = match self.take::<Filling<'py>>("fill")? {
            None => return Ok(Fill::default()),
            Some(Filling::Text(text)) => text,
            Some(Filling::Fields(fields)) => {
                let pair = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
                    let value = if value.is_none() { "none".to_owned() } else { value.to_string() };
                    format!("{name}={value}")
                };
                fields.iter().map(pair).collect::<Vec<_>>().join(",")
            }
        };
        let fill = text.parse().map_err(|error| Failure::usage(format!("fill: {error}")));
        Ok(fill?)
    }

    pub(crate) fn search(&self) -> PyResult<SearchSettings> {
        let default = SearchSettings::default();
        let settings = SearchSettings {
            depth_plies: self.take("depth")?.unwrap_or(default.depth_plies),
            nodes: self.take("nodes")?.unwrap_or(default.nodes),
            hash_mb: self.take("hash_mb")?.unwrap_or(default.hash_mb),
            in_check: self.word("in_check")?.unwrap_or(default.in_check),
            when_hopeless: self.word("when_hopeless")?.unwrap_or(default.when_hopeless),
        };
        settings.check().map_err(Failure::usage)?;
        Ok(settings)
    }

    pub(crate) fn on_error(&self, default: BadPolicy) -> PyResult<BadPolicy> {
        Ok(self.word("on_error")?.unwrap_or(default))
    }

    pub(crate) fn threads(&self) -> PyResult<usize> {
        Ok(self.take("threads")?.unwrap_or_default())
    }
}

/// Converts a bool, string or number.
fn json_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(flag.into());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text.into());
    }
    match value.extract::<i64>() {
        Ok(number) => Ok(number.into()),
        Err(_) => match value.extract::<u64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => Ok(value.extract::<f64>()?.into()),
        },
    }
}

fn named(name: &str, error: &PyErr) -> PyErr {
    PyTypeError::new_err(format!("{name}: {error}"))
}
