//! Keyword arguments of functions. Their names are the long option names of the command line, with `_` for `-`.

use std::path::PathBuf;
use std::str::FromStr;

use kyokumen::format::Fill;
use kyokumen::mate::judge::MateSettings;
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::filters::RecordFilters;
use kyokumen::records::format_name::FormatName;
use kyokumen::storage::memory::Memory;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::arrays::Object;
use crate::failure::Failure;
use crate::interrupt::MAX_THREADS;
use crate::moves::dialect_named;
use crate::solver::variant;

/// Keyword arguments that have not been taken yet.
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

/// A number of bytes, or a text as on the command line.
#[derive(FromPyObject)]
pub(crate) enum Amount {
    Bytes(u64),
    Text(String),
}

/// A bool, text or number, from Python or numpy.
#[derive(FromPyObject, Serialize)]
#[serde(untagged)]
enum Scalar {
    Flag(bool),
    Text(String),
    Whole(i64),
    Large(u64),
    Real(f64),
}

/// Fill values, as a text as on the command line or as a dictionary by field.
#[derive(FromPyObject)]
enum FillValues<'py> {
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

    /// The value of an option, which stays to be taken.
    pub(crate) fn peek<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.left.get_item(name)?;
        let taken = self.take(name)?;
        value.map_or(Ok(()), |value| self.left.set_item(name, value))?;
        Ok(taken)
    }

    pub(crate) fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.take(name)?.unwrap_or_default())
    }

    /// Whether an option is set. False if it is absent or None.
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

    /// Takes a variant of an enum of the library, by its serde name.
    pub(crate) fn variant<T: DeserializeOwned>(&self, name: &str) -> PyResult<Option<T>> {
        let text = self.take::<String>(name)?;
        Ok(text.map(|text| variant::<T>(name, &text)).transpose()?)
    }

    /// Takes a named value. `expected` lists the valid names for the error message.
    pub(crate) fn named<T>(
        &self,
        name: &str,
        value_named: fn(&str) -> Option<T>,
        expected: &str,
    ) -> PyResult<Option<T>> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let unknown = || Failure::usage(format!("{name} must be {expected}, not {text:?}"));
        Ok(Some(value_named(&text).ok_or_else(unknown)?))
    }

    pub(crate) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        Ok(self.take::<Paths>(name)?.map_or_else(Vec::new, Paths::into_vec))
    }

    pub(crate) fn memory(&self, name: &str) -> PyResult<Option<Memory>> {
        Ok(self.take::<Amount>(name)?.map(Amount::memory).transpose()?)
    }

    /// Adds options by their long names on the command line. Keyword arguments take precedence.
    pub(crate) fn add(&self, others: &Map<String, Value>) -> PyResult<()> {
        let json = self.left.py().import("json")?;
        for (name, value) in others {
            let name = match name.replace('-', "_") {
                name if name == "from" => "from_".to_owned(),
                name => name,
            };
            let is_set = !value.is_null() && *value != "";
            if is_set && !self.has(&name)? {
                self.left.set_item(name, json.call_method1("loads", (value.to_string(),))?)?;
            }
        }
        Ok(())
    }

    /// Fails if an option is left. It is unknown, because it was not taken.
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

    /// Takes the filters. `seed` is the name of the option with the seed of the sample.
    pub(crate) fn filters(&self, seed: &str) -> PyResult<RecordFilters> {
        Ok(self.fields::<RecordFilters>(("seed", seed))?.with_default_seed())
    }

    pub(crate) fn search(&self) -> PyResult<MateSettings> {
        let settings = self.fields::<MateSettings>(("", ""))?;
        settings.check().map_err(Failure::usage)?;
        Ok(settings)
    }

    /// Takes the options that have the names of the fields of a struct. `renamed` is a field and its option name, if
    /// they differ.
    pub(crate) fn fields<T: Default + Serialize + DeserializeOwned>(
        &self,
        renamed: (&str, &str),
    ) -> PyResult<T> {
        let known = serde_json::to_value(T::default()).unwrap_or_default();
        let mut given = Map::new();
        for field in known.as_object().into_iter().flat_map(Map::keys) {
            let name =
                if field == renamed.0 { renamed.1.to_owned() } else { field.replace('-', "_") };
            let Some(value) = self.take::<Scalar>(&name)? else { continue };
            let wrong =
                |error: &dyn ToString| Failure::usage(format!("{name}: {}", error.to_string()));
            let value = serde_json::to_value(value).map_err(|error| wrong(&error))?;
            // JSON has no infinity and no NaN.
            if value.is_null() {
                return Err(wrong(&"expected a finite number").into());
            }
            let alone = Map::from_iter([(field.clone(), value)]);
            serde_json::from_value::<T>(alone.clone().into()).map_err(|error| wrong(&error))?;
            given.extend(alone);
        }
        Ok(serde_json::from_value(given.into()).map_err(Failure::usage)?)
    }

    pub(crate) fn fill(&self) -> PyResult<Fill> {
        let text = match self.take::<FillValues<'py>>("fill")? {
            None => return Ok(Fill::default()),
            Some(FillValues::Text(text)) => text,
            Some(FillValues::Fields(fields)) => {
                let pair = |(name, value): (Object<'py>, Object<'py>)| {
                    let value = if value.is_none() { "none".to_owned() } else { value.to_string() };
                    format!("{name}={value}")
                };
                fields.iter().map(pair).collect::<Vec<_>>().join(",")
            }
        };
        let fill = text.parse().map_err(|error| Failure::usage(format!("fill: {error}")));
        Ok(fill?)
    }

    pub(crate) fn on_error(&self, default: BadPolicy) -> PyResult<BadPolicy> {
        Ok(self.variant("on_error")?.unwrap_or(default))
    }

    pub(crate) fn threads(&self) -> PyResult<usize> {
        Ok(self.take::<usize>("threads")?.unwrap_or_default().min(MAX_THREADS))
    }
}
