//! Options of functions by the long names of the command line, with `_` for `-`.

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
use crate::interrupt::MOST_THREADS;
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

/// A bool, a text or a number, of Python or numpy.
#[derive(FromPyObject, Serialize)]
#[serde(untagged)]
enum Plain {
    Flag(bool),
    Text(String),
    Whole(i64),
    Large(u64),
    Real(f64),
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
        Ok(text.map(|text| word::<T>(name, &text)).transpose()?)
    }

    /// A value by its name; `expected` are the names there are.
    pub(crate) fn named<T>(
        &self,
        name: &str,
        value_named: fn(&str) -> Option<T>,
        expected: &str,
    ) -> PyResult<Option<T>> {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let unknown = || Failure::usage(format!("{name} is {expected}, not {text:?}"));
        Ok(Some(value_named(&text).ok_or_else(unknown)?))
    }

    pub(crate) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        Ok(self.take::<Paths>(name)?.map_or_else(Vec::new, Paths::into_vec))
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
        Ok(self.fields::<RecordFilters>(("seed", seed))?.with_default_seed())
    }

    pub(crate) fn search(&self) -> PyResult<MateSettings> {
        let settings = self.fields::<MateSettings>(("", ""))?;
        settings.check().map_err(Failure::usage)?;
        Ok(settings)
    }

    /// The options with the names of the fields of a struct, but for one.
    pub(crate) fn fields<T: Default + Serialize + DeserializeOwned>(
        &self,
        renamed: (&str, &str),
    ) -> PyResult<T> {
        let known = serde_json::to_value(T::default()).unwrap_or_default();
        let mut given = Map::new();
        for field in known.as_object().into_iter().flat_map(Map::keys) {
            let name =
                if field == renamed.0 { renamed.1.to_owned() } else { field.replace('-', "_") };
            let Some(value) = self.take::<Plain>(&name)? else { continue };
            let wrong = |why: &dyn ToString| Failure::usage(format!("{name}: {}", why.to_string()));
            let value = serde_json::to_value(value).map_err(|error| wrong(&error))?;
            if value.is_null() {
                return Err(wrong(&"a number is expected, and this is none").into());
            }
            let alone = Map::from_iter([(field.clone(), value)]);
            serde_json::from_value::<T>(alone.clone().into()).map_err(|error| wrong(&error))?;
            given.extend(alone);
        }
        Ok(serde_json::from_value(given.into()).map_err(Failure::usage)?)
    }

    pub(crate) fn fill(&self) -> PyResult<Fill> {
        let text = match self.take::<Filling<'py>>("fill")? {
            None => return Ok(Fill::default()),
            Some(Filling::Text(text)) => text,
            Some(Filling::Fields(fields)) => {
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
        Ok(self.word("on_error")?.unwrap_or(default))
    }

    pub(crate) fn threads(&self) -> PyResult<usize> {
        Ok(self.take::<usize>("threads")?.unwrap_or_default().min(MOST_THREADS))
    }
}
