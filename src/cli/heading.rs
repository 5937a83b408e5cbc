//! Headings under which options stand in help.
//!
//! Each option names its own: `next_help_heading` of a struct would go on to the options behind it, whosever they are.

/// What becomes of what was found out.
pub(super) const OUTPUTS: &str = "Outputs";

/// Which records are read, and how.
pub(super) const RECORDS: &str = "Records";

/// How the work is done.
pub(super) const RUNNING: &str = "Running";

/// Limits of the search.
pub(super) const SEARCH: &str = "Search";
