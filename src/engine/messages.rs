//! Limits the number of similar messages: shows the first ones and counts the rest.

use std::fmt::Display;

/// Maximum number of messages shown.
const MOST: u64 = 20;

/// Counts messages of one sort.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    number: u64,
}

impl Messages {
    /// Counts a message. Returns whether to show it.
    pub(crate) const fn is_shown(&mut self) -> bool {
        self.number += 1;
        self.number <= MOST
    }

    /// A line with the number of messages that were not shown, if any.
    pub(crate) fn rest(&self) -> Option<String> {
        let rest = self.number.saturating_sub(MOST);
        (rest > 0).then(|| format!("… and {rest} more"))
    }
}

/// The first messages, and a line with the number of the rest.
pub(crate) fn shortened(all: &[impl Display]) -> Vec<String> {
    let mut messages = Messages::default();
    let mut shown: Vec<String> =
        all.iter().filter(|_| messages.is_shown()).map(ToString::to_string).collect();
    shown.extend(messages.rest());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let numbers: Vec<u32> = (1..=20).collect();
        assert_eq!(shortened(&numbers).len(), 20);
        let numbers: Vec<u32> = (1..=173).collect();
        let shown = shortened(&numbers);
        assert_eq!((shown.len(), &*shown[19], &*shown[20]), (21, "20", "… and 153 more"));
    }
}
