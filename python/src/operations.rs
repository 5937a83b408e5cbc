//! Commands of the command line as functions. `kyokumen._operations` defines the functions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use kyokumen::cli;
use kyokumen::cli::call::{Argument, Call, CallError, Caller, OptionHelp};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::Object;
use crate::failure::{Failure, argument, in_python};
use crate::interrupt::{abandonable, interruptible};
use crate::options::field_values;

/// The value of a keyword argument.
#[derive(FromPyObject)]
enum Value<'py> {
    Flag(bool),
    One(Scalar),
    Several(Vec<Scalar>),
    Fields(Bound<'py, PyDict>),
}

/// A number, text or path, from Python or numpy.
#[derive(FromPyObject)]
enum Scalar {
    Whole(i64),
    Large(u64),
    Real(f64),
    Text(PathBuf),
}

impl From<Scalar> for OsString {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Whole(number) => number.to_string().into(),
            Scalar::Large(number) => number.to_string().into(),
            Scalar::Real(number) => number.to_string().into(),
            Scalar::Text(text) => text.into(),
        }
    }
}

impl Value<'_> {
    fn into_argument(self) -> Argument {
        match self {
            Self::Flag(is_set) => Argument::Flag(is_set),
            Self::One(value) => Argument::Values(vec![value.into()]),
            Self::Several(values) => Argument::Values(values.into_iter().map(Into::into).collect()),
            Self::Fields(fields) => {
                Argument::Values(field_values(&fields).into_iter().map(Into::into).collect())
            }
        }
    }
}

/// Converts keyword arguments to options. None leaves an option unset.
fn options(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Argument)>> {
    let mut options = Vec::new();
    for (name, value) in given {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        let value: Value<'_> = value.extract().map_err(|_: PyErr| {
            let kind = value.get_type();
            PyTypeError::new_err(format!(
                "{name}: expected a truth value, number, text, path, list or dictionary, not {kind}"
            ))
        })?;
        let name = if name == "from_" { "from".to_owned() } else { name.replace('_', "-") };
        options.push((name, value.into_argument()));
    }
    Ok(options)
}

/// Runs a command. `positional` has its inputs. `given` has its options, by their names in Python.
#[pyfunction]
#[pyo3(name = "call")]
pub(crate) fn call_command<'py>(
    py: Python<'py>,
    command: String,
    positional: Vec<PathBuf>,
    given: &Bound<'py, PyDict>,
    progress: Option<Object<'py>>,
) -> PyResult<Object<'py>> {
    let reporting = py.import("kyokumen._report")?;
    let report = reporting.getattr("report")?.unbind();
    let callback: Option<Py<PyAny>> =
        reporting.getattr("callback")?.call1((progress,))?.extract()?;
    let options = options(given)?;
    let positional = positional.into_iter().map(Into::into).collect();
    let call =
        abandonable(py, move |_| Call::new(&command, positional, options))?.map_err(error)?;
    let json = if call.writes {
        interruptible(
            py,
            |cancel, snapshots| call.run(&Caller { cancel, snapshots, advice: argument }),
            |py, snapshot: String| {
                let Some(callback) = &callback else { return Ok(()) };
                callback.call1(py, (report.call1(py, (snapshot,))?,)).map(drop)
            },
        )?
    } else {
        let run = move |cancel: &_| {
            call.run(&Caller { cancel, snapshots: channel().0, advice: argument })
        };
        abandonable(py, run)?
    };
    report.bind(py).call1((json.map_err(error)?,))
}

fn error(error: CallError) -> PyErr {
    match error {
        CallError::NoOption(name) => {
            PyTypeError::new_err(format!("there is no option {}", name.replace('-', "_")))
        }
        CallError::Usage(message) => Failure::usage(in_python(&message)).into(),
        CallError::Failed(error) => Failure::from(error).into(),
    }
}

/// The names, values and descriptions of the options of each command.
#[pyfunction]
#[pyo3(name = "options")]
pub(crate) fn options_of_commands() -> BTreeMap<String, Vec<(String, String, String)>> {
    let in_names = |text: &str| in_python(&format!("--{text}"));
    let describe =
        |option: OptionHelp| (in_names(&option.name), option.value, in_python(&option.help));
    let commands = cli::call::options().into_iter();
    commands.map(|(name, options)| (name, options.into_iter().map(describe).collect())).collect()
}

/// Runs the command line with `arguments`, without the name of the program. Returns the exit status. Invalid arguments
/// end the process.
#[pyfunction]
pub(crate) fn run_command_line(py: Python<'_>, arguments: Vec<PathBuf>) -> u8 {
    let words = [OsString::from("kyokumen")].into_iter();
    let words = words.chain(arguments.into_iter().map(Into::into)).collect();
    py.detach(|| cli::kyokumen_with(words))
}
