//! Finds and loads the shared library of ONNX Runtime.

use std::env::{self, consts};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::NetworkError;

/// The environment variable with the path of the library, as in other programs that use the `ort` crate.
const LIBRARY_VARIABLE: &str = "ORT_DYLIB_PATH";

/// Prints the library of an installed `onnxruntime` wheel. The package is only located: loading it takes a second. The
/// working folder is not searched.
const FIND_WHEEL: &str = "
import glob, importlib.util, os, sys
sys.path = [path for path in sys.path if path]
spec = importlib.util.find_spec('onnxruntime')
folder = os.path.join(os.path.dirname(spec.origin), 'capi')
print([*glob.glob(folder + '/libonnxruntime.*'), *glob.glob(folder + '/onnxruntime.dll')][0])
";

/// The loaded library. A process can load only one, once.
#[derive(Clone)]
pub(crate) struct Library {
    pub(crate) environment: Environment,
    path: PathBuf,
}

static LOADED: Mutex<Option<Library>> = Mutex::new(None);

impl Library {
    /// Loads a library, by default the first of: [`LIBRARY_VARIABLE`], an installed `onnxruntime` wheel, the system's.
    ///
    /// # Errors
    ///
    /// [`NetworkError::Library`] if it cannot be loaded, is too old, or another one is loaded.
    pub(crate) fn load(path: Option<&Path>) -> Result<Self, NetworkError> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = &*loaded {
            return match path {
                Some(path) if path != library.path => Err(NetworkError::Library {
                    places: vec![path.display().to_string()],
                    source: format!("{} is already loaded", library.path.display()).into(),
                }),
                _ => Ok(library.clone()),
            };
        }
        let (path, places) = find(path);
        let failed = |source| NetworkError::Library { places: places.clone(), source };
        if path.components().nth(1).is_some() {
            // `ort` would not state why a file cannot be opened.
            File::open(&path).map_err(|error| failed(error.into()))?;
        }
        let builder = ort::init_from(&path).map_err(|error| failed(error.into()))?;
        let builder = builder.with_name("kyokumen").with_telemetry(false).with_logger(Arc::new(
            |level, _, _, _, message: &str| {
                if matches!(level, LogLevel::Error | LogLevel::Fatal) {
                    crate::log("ONNX Runtime", message);
                }
            },
        ));
        let environment = builder.build().map_err(|error| failed(error.into()))?;
        // With a logger, the library would format all messages.
        environment.set_log_level(LogLevel::Error);
        Ok(loaded.insert(Self { environment, path }).clone())
    }
}

/// The library, and the places that were searched.
fn find(path: Option<&Path>) -> (PathBuf, Vec<String>) {
    if let Some(path) = path {
        return (path.to_owned(), vec![path.display().to_string()]);
    }
    if let Some(path) = env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        let place = format!("{} (from {LIBRARY_VARIABLE})", Path::new(&path).display());
        return (path.into(), vec![place]);
    }
    let mut places = vec![LIBRARY_VARIABLE.to_owned()];
    for python in ["python3", "python"] {
        match wheel_of(python.as_ref()) {
            Some(path) => {
                let place = format!("{} (the wheel of {python})", path.display());
                return (path, vec![place]);
            }
            None => places.push(format!("the onnxruntime wheel of {python}")),
        }
    }
    let name = format!("{}onnxruntime{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    places.push(format!("{name} in the folders of the system"));
    (name.into(), places)
}

/// The library of the wheel that is installed for a Python program.
fn wheel_of(python: &OsStr) -> Option<PathBuf> {
    let mut command = Command::new(python);
    command.args(["-c", FIND_WHEEL]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    path.is_file().then_some(path)
}
