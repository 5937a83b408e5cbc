//! The stores that objects are kept in.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreKind {
    S3,
    Google,
    Azure,
    #[cfg(test)]
    Memory,
}

impl StoreKind {
    pub(super) fn of(scheme: &str) -> Option<Self> {
        Some(match scheme {
            "s3" => Self::S3,
            "gs" => Self::Google,
            "az" => Self::Azure,
            #[cfg(test)]
            "memory" => Self::Memory,
            _ => return None,
        })
    }
}
