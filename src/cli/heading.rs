//! Headings under which options stand in help.
//!
//! Each option names its own: `next_help_heading` of a struct would go on to the options behind it, whosever they are.

pub(super) const OUTPUTS: &str = "Outputs";

pub(super) const RECORDS: &str = "Records";

pub(super) const RUNNING: &str = "Running";

pub(super) const SEARCH: &str = "Search";
