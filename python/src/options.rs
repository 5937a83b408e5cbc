//! Keyword arguments of functions. Their names are the long option names of the command line, with `_` for `-`.

use std::path::PathBuf;
use std::str::FromStr;

use kyokumen::format::Fill;
use kyokumen::mate::judge::MateSettings;
use kyokumen::records::filters::RecordFilters;
use kyokumen::records::format_name::FormatName;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;

use crate::arguments::{Accepts, Given, number};
use crate::arrays::Object;
use crate::failure::Failure;
use crate::interrupt::MAX_THREADS;
use crate::moves::dialect_named;

/// Keyword arguments that have not been taken yet.
pub(crate) struct Options<'py> {
    left: Bound<'py, PyDict>,
}

#[derive(FromPyObject)]
pub(crate) enum Paths {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Accepts for Paths {
    const ACCEPTED: &'static str = "a path or a list of paths";
}

impl Paths {
    pub(crate) fn into_vec(self) -> Vec<PathBuf> {
        match self {
            Self::One(path) => vec![path],
            Self::Several(paths) => paths,
        }
    }
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

impl Accepts for Scalar {
    const ACCEPTED: &'static str = "a truth value, text or number";
}

/// The error for a value that serde rejects, without names of Rust types.
pub(crate) fn wrong_value(argument: &str, error: &dyn ToString) -> Failure {
    let error = error.to_string();
    let (given, expected) = error.rsplit_once(", expected ").unwrap_or((&error, ""));
    let expected = match expected {
        "" => return Failure::usage(format!("{argument}: {error}")),
        nonzero if nonzero.starts_with("a nonzero") => "a whole number of at least 1".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u64" | "usize" => "a whole number of at least 0".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "True or False".to_owned(),
        "a string" => "a text".to_owned(),
        names => names.replace('`', "\""),
    };
    let given = given.trim_start_matches("unknown variant ").trim_start_matches("invalid value: ");
    let given = given.trim_start_matches("invalid type: ").replace('`', "\"");
    Failure::usage(format!("{argument}: expected {expected}, not {given}"))
}

/// The value of `fill`, as a text as on the command line or as a dictionary by field.
pub(crate) fn fill_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Fill> {
    let Some(given) = given else { return Ok(Fill::default()) };
    let text = match given.cast::<PyDict>() {
        Ok(fields) => field_values(fields).join(","),
        Err(_) => given.extract()?,
    };
    let fill = text.parse().map_err(|error| Failure::usage(format!("fill: {error}")));
    Ok(fill?)
}

/// The items of a dictionary as on the command line: `ply=0`.
pub(crate) fn field_values(fields: &Bound<'_, PyDict>) -> Vec<String> {
    let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let value = if value.is_none() { "none".to_owned() } else { value.to_string() };
        format!("{name}={value}")
    };
    fields.iter().map(pair).collect()
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

    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> PyResult<Option<T>>
    where
        T::Err: std::fmt::Display,
    {
        let Some(text) = self.take::<String>(name)? else { return Ok(None) };
        let parsed = text.parse().map_err(|error| Failure::usage(format!("{name}: {error}")));
        Ok(Some(parsed?))
    }

    pub(crate) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        Ok(self.take::<Given<Paths>>(name)?.map_or_else(Vec::new, |paths| paths.0.into_vec()))
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
            let Some(Given(value)) = self.take::<Given<Scalar>>(&name)? else { continue };
            let wrong = |error: &dyn ToString| wrong_value(&name, error);
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

    pub(crate) fn threads(&self) -> PyResult<usize> {
        let threads = self.take::<Object<'_>>("threads")?;
        let threads = threads.as_ref().map(number::threads).transpose()?;
        Ok(threads.unwrap_or_default().min(MAX_THREADS))
    }
}
