//! Records as literal bytes.

/// The start position as Apery packs it, in hexadecimal digits.
pub const START_HCP: &str = "58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49210c";
/// The start position as YaneuraOu packs it, in hexadecimal digits.
pub const START_PSV: &str = "58a451220ceb67227e9653221caf447824c22b119e53221ceb6f223e9651220c";

/// Converts hexadecimal digits to bytes.
///
/// # Panics
///
/// If the text is not hexadecimal digits.
pub fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// A game of sbinpack: score 100, then 7g7f with 110, 3c3d with −115, 2g2f with 125; Black won; two bytes of metadata.
/// The differences come from rsshogi's test (`score_delta_normalizes_side_to_move_values`).
pub fn sbinpack_chain() -> Vec<u8> {
    bytes(&format!("{START_PSV} 6400 3b1e 0100 02 abcd 0300 0414 040a 0514").replace(' ', ""))
}

/// A chunk of sbinpack with this payload.
pub fn sbinpack_chunk(payload: &[u8]) -> Vec<u8> {
    [b"SBN2", &(payload.len() as u32).to_le_bytes()[..], payload].concat()
}

/// A board with only the two kings, as a diagram of KIF and BOD.
pub const TWO_KINGS: &str = "  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ ・ ・ ・ ・ ・|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九
+---------------------------+
";

/// A mate problem as other programs write it in KIF, without moves: mate in one by 金.
pub const PROBLEM: &str = "\
手合割：詰将棋
後手の持駒：飛二　角二　金三　銀四　桂四　香四　歩十七　
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・ ・ ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ ・ ・ ・ ・ ・|九
+---------------------------+
先手の持駒：金　
手数＝0  まで
";
