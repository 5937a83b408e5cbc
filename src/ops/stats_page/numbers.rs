//! Numbers as people read them.

/// A part of a whole in per cent, with one decimal; of nothing it is 0.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.1} %")
}

/// How many per position, with two decimals.
pub(crate) fn per_position(count: u64, positions: u64) -> String {
    let each = if positions == 0 { 0.0 } else { count as f64 / positions as f64 };
    format!("{each:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_nothing_is_none_of_it() {
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0.0 %");
    }
}
