//! Numbers of things in messages: `1 record`, `2 records`.

use std::fmt::Display;

/// So many of a thing, whose plural has an s.
pub(crate) fn quantity<N: Copy + Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let told = [0_u64, 1, 2, 10].map(|number| quantity(number, "record"));
        assert_eq!(told, ["0 records", "1 record", "2 records", "10 records"]);
        assert_eq!(quantity(1_usize, "byte"), "1 byte");
    }
}
