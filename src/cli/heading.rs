//! Headings under which options stand in help.

/// What becomes of what was found out.
pub(super) const OUTPUTS: &str = "Outputs";

/// Which records are read, and how.
pub(super) const RECORDS: &str = "Records";

/// How the work is done.
pub(super) const RUNNING: &str = "Running";

/// Limits of the search.
pub(super) const SEARCH: &str = "Search";
