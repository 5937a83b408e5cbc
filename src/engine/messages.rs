//! Messages of which there may be any number: some are told, the rest is counted.

use std::fmt::Display;

/// As many are told.
const MOST: u64 = 20;

/// Messages that come one by one.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    number: u64,
}

impl Messages {
    /// Counts another one; whether it is to be told.
    pub(crate) const fn is_told(&mut self) -> bool {
        self.number += 1;
        self.number <= MOST
    }

    /// What is told of the rest at the end, if there is any.
    pub(crate) fn rest(&self) -> Option<String> {
        let rest = self.number.saturating_sub(MOST);
        (rest > 0).then(|| format!("… and {rest} more"))
    }
}

/// The messages that are told, and what is told of the rest.
pub(crate) fn told(all: &[impl Display]) -> Vec<String> {
    let mut messages = Messages::default();
    let mut told: Vec<String> =
        all.iter().filter(|_| messages.is_told()).map(ToString::to_string).collect();
    told.extend(messages.rest());
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_counted() {
        let numbers: Vec<u32> = (1..=20).collect();
        assert_eq!(told(&numbers).len(), 20);
        let numbers: Vec<u32> = (1..=173).collect();
        let told = told(&numbers);
        assert_eq!((told.len(), &*told[19], &*told[20]), (21, "20", "… and 153 more"));
    }
}
