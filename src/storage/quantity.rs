//! Numbers in messages: quantities with nouns, thousands separators, speeds, durations.

use std::fmt::Display;

/// `1 record`, `2 records`
pub(crate) fn quantity<N: Copy + Display + PartialEq + From<u8>>(number: N, unit: &str) -> String {
    format!("{number} {}", noun(number == N::from(1), unit))
}

/// A singular or its regular plural: `records`, `plies`.
pub(crate) fn noun(is_one: bool, singular: &str) -> String {
    let (stem, end) = match singular.strip_suffix('y') {
        _ if is_one => (singular, ""),
        Some(stem) => (stem, "ies"),
        None => (singular, "s"),
    };
    format!("{stem}{end}")
}

/// `1,234,567`
pub(crate) fn separated(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 node`, `1,234,567 nodes`
pub(crate) fn separated_quantity(number: u64, unit: &str) -> String {
    format!("{} {}", separated(number), noun(number == 1, unit))
}

/// A speed with thousands separators. Only a speed below 10 has a decimal.
pub(crate) fn rounded(speed: f64) -> String {
    if speed > 0.0 && speed < 9.95 {
        return format!("{speed:.1}");
    }
    #[expect(clippy::cast_sign_loss, reason = "saturates")]
    separated(speed.round() as u64)
}

/// `42 s`, `3 min 20 s`, `5 h 04 min`.
pub(crate) fn duration(seconds: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "saturates")]
    let seconds = seconds.round() as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `3 min 20 s left`
pub(crate) fn left(seconds: f64) -> String {
    format!("{} left", duration(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_after_one_are_singular() {
        let quantities = [0_u64, 1, 2, 10].map(|number| quantity(number, "record"));
        assert_eq!(quantities, ["0 records", "1 record", "2 records", "10 records"]);
        assert_eq!(quantity(1_usize, "byte"), "1 byte");
        assert_eq!([1_u16, 2].map(|plies| quantity(plies, "ply")), ["1 ply", "2 plies"]);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        let durations = [0.4, 59.0, 60.0, 200.0, 18_240.0, f64::INFINITY].map(duration);
        assert_eq!(durations[..5], ["0 s", "59 s", "1 min 00 s", "3 min 20 s", "5 h 04 min"]);
    }

    #[test]
    fn slow_speeds_have_a_decimal() {
        let speeds = [0.0, 0.04, 0.68, 9.94, 9.96, 35.6, 12_345.6].map(rounded);
        assert_eq!(speeds, ["0", "0.0", "0.7", "9.9", "10", "36", "12,346"]);
    }

    #[test]
    fn thousands_are_separated() {
        let numbers = [0, 999, 1_000, 65_536, 1_234_567, u64::MAX].map(separated);
        let expected = ["0", "999", "1,000", "65,536", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(numbers, expected);
    }
}
