//! Damages files in random ways.

use kyokumen_testing::positions::Random;

/// The most bytes that are inserted, removed or duplicated at once.
const MAX_BYTES: usize = 200;

/// Bytes that some format reads as a length, a count or a terminator.
const WORDS: [&[u8]; 18] = [
    b"\0",
    b"\xff",
    b"\xff\xff",
    b"\0\x80",
    b"\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\0",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\t",
    b"\n\n",
    b"#",
    b"\xef\xbb\xbf",
    b"\x8e\xe8",
    b"\xf0\x9f\x80\x80",
];

/// Bytes that mark a place in some format, and numbers out of range.
const MARKS: [&[u8]; 14] = [
    b"/\n",
    b"SBN2",
    b"sfen ",
    b"startpos moves ",
    b"%TORYO\n",
    b"e\n",
    b"{\"sfen\":\"",
    b"PI\n",
    b"N+x\n",
    "手合割：平手\n".as_bytes(),
    b"#YANEURAOU-DB2016 1.00\n",
    b"99999999999999999999",
    b"-9223372036854775809",
    b"\x28\xb5\x2f\xfd",
];

/// Damages the bytes one to four times. Some damage inserts bytes of another file.
pub(super) fn damaged(mut bytes: Vec<u8>, other: &[u8], random: &mut Random) -> Vec<u8> {
    for _ in 0..=random.below(4) {
        damage(&mut bytes, other, random);
    }
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = (at + 1 + random.below(MAX_BYTES)).min(bytes.len());
    match random.below(12) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.below(256) as u8;
            }
        }
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let doubled = bytes[at..end].to_vec();
            insert(bytes, at, &doubled);
        }
        6 => {
            let count = 1 + random.below(MAX_BYTES);
            let garbage: Vec<u8> = (0..count).map(|_| random.below(256) as u8).collect();
            insert(bytes, at, &garbage);
        }
        7 => {
            // A piece moves to another place.
            let piece: Vec<u8> = bytes.drain(at..end).collect();
            let to = random.below(bytes.len() + 1);
            insert(bytes, to, &piece);
        }
        8 => {
            let from = random.below(other.len() + 1);
            let to = (from + 1 + random.below(4 * MAX_BYTES)).min(other.len());
            insert(bytes, at, &other[from..to]);
        }
        9 => {
            let word = WORDS[random.below(WORDS.len())];
            let end = (at + word.len()).min(bytes.len());
            bytes.splice(at..end, word.iter().copied());
        }
        10 => insert(bytes, at, WORDS[random.below(WORDS.len())]),
        _ => insert(bytes, at, MARKS[random.below(MARKS.len())]),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(bytes.splice(at..at, piece.iter().copied()));
}
