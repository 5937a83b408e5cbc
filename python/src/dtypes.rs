//! The dtypes of records, which are those of cshogi.

use kyokumen::format::Format;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Formats that have a dtype, with its name in `kyokumen.dtypes`.
pub(crate) const DTYPES: [(Format, &str); 5] = [
    (Format::Hcp, "hcp"),
    (Format::Hcpe, "hcpe"),
    (Format::Hcpe2, "hcpe"),
    (Format::Hcpe42, "hcpe42"),
    (Format::Psv, "psv"),
];

pub(crate) fn dtype(py: Python<'_>, format: Format) -> PyResult<Bound<'_, PyAny>> {
    let name = DTYPES.iter().find(|(known, _)| *known == format).map(|(_, name)| *name);
    let name = name.ok_or_else(|| {
        Failure::usage(format!(
            "records of {format} have no one size, and no dtype: take .to_arrow(), or convert them to psv or hcpe"
        ))
    })?;
    py.import("kyokumen.dtypes")?.getattr(name)
}

/// A view of bytes as records.
pub(crate) fn as_records<'py>(
    bytes: &Bound<'py, PyArray1<u8>>,
    format: Format,
) -> PyResult<Bound<'py, PyAny>> {
    bytes.call_method1("view", (dtype(bytes.py(), format)?,))
}
