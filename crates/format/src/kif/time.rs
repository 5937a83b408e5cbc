//! Times in KIF, which follow a move: `( 0:16/00:00:16)`. The time of the move comes first, then the total of the side.

/// The time before the slash, in milliseconds. `None` if there is no time. Fractions of a second are dropped, because
/// the format has whole seconds only.
pub(super) fn elapsed_ms(text: &str) -> Option<u64> {
    let times = text.split('(').skip(1).find(|part| part.contains(':'))?;
    let time = times.split(['/', ')']).next()?.trim();
    let whole = time.split('.').next()?;
    let mut seconds = 0_u64;
    for part in whole.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.trim().parse().ok()?)?;
    }
    seconds.checked_mul(1000)
}

/// The time of the move and the total of its side, in whole seconds.
pub(super) fn bracket(elapsed_ms: u64, total_ms: u64) -> String {
    let (seconds, total) = (elapsed_ms / 1000, total_ms / 1000);
    let (minutes, seconds) = (seconds / 60, seconds % 60);
    let (hours, total) = (total / 3600, total % 3600);
    format!("({minutes:>2}:{seconds:02}/{hours:02}:{:02}:{:02})", total / 60, total % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_all_known_spellings() {
        for (text, expected) in [
            ("7六歩(77)   ( 0:16/00:00:16)", Some(16_000)),
            ("7六歩(77) (90:00/1:30:00)+", Some(5_400_000)),
            ("7六歩(77) ( 0:01.5/)", Some(1000)),
            ("投了 ( 1:02:03)", Some(3_723_000)),
            ("7六歩(77)", None),
            ("7六歩(77) (x:y)", None),
            ("7六歩(77) (99999999999999999999:0)", None),
        ] {
            assert_eq!(elapsed_ms(text), expected, "{text}");
        }
        assert_eq!(bracket(16_900, 3_716_000), "( 0:16/01:01:56)");
    }
}
