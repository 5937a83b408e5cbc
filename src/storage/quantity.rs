//! Numbers of things in messages: `1 record`, `2 records`.

use std::fmt::Display;

pub(crate) fn quantity<N: Copy + Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    format!("{number} {}", noun(number == N::from(1), thing))
}

/// Regular plurals only: `records`, `plies`.
pub(crate) fn noun(is_one: bool, thing: &str) -> String {
    let (stem, end) = match thing.strip_suffix('y') {
        _ if is_one => (thing, ""),
        Some(stem) => (stem, "ies"),
        None => (thing, "s"),
    };
    format!("{stem}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let told = [0_u64, 1, 2, 10].map(|number| quantity(number, "record"));
        assert_eq!(told, ["0 records", "1 record", "2 records", "10 records"]);
        assert_eq!(quantity(1_usize, "byte"), "1 byte");
        assert_eq!([1_u16, 2].map(|plies| quantity(plies, "ply")), ["1 ply", "2 plies"]);
    }
}
