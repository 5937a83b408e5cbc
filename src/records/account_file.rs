//! Accounts read from their files.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind};
use crate::storage::files;

pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = files::read(path).map_err(|source| Error::io("read", path, source))?;
    serde_json::from_slice(&bytes).map_err(|source| {
        let message = format!("{} is no manifest that this version understands", path.display());
        Error::new(ErrorKind::Malformed, message).with_source(source)
    })
}

pub(crate) fn to_json(account: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(account)
        .expect("strings, numbers and maps with words as keys always have a JSON form");
    json.push(b'\n');
    json
}

pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";
