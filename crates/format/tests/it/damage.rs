//! Packed positions with every single bit flipped: compares the fast codec with the reference codec.
//!
//! Most damaged positions are invalid; some are other valid positions.

use kyokumen_format::packed::{self, Family};
use kyokumen_format::{ContentHash, reference};
use kyokumen_shogi::{HandKind, Position, Setup};
use kyokumen_testing::positions::random_play;
use kyokumen_testing::record_properties::{check_in_pairs, check_packed};
use rayon::prelude::*;

/// Handicap starts, whose missing pieces fill the box, and positions of random games.
fn setups() -> Vec<Setup> {
    let handicaps = [
        "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "1nsgkgsn1/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    ];
    let played = random_play(12, 7 * (1000 - handicaps.len()));
    handicaps
        .into_iter()
        .map(|sfen| sfen.parse().unwrap())
        .chain(played.iter().step_by(7).map(Position::setup))
        .collect()
}

#[test]
fn both_codecs_agree_on_every_flipped_bit() {
    use HandKind::{Bishop, Gold, Knight, Lance, Pawn, Rook, Silver};
    let rshogi = [Rook, Bishop, Gold, Silver, Knight, Lance, Pawn];
    let accepted: usize = setups()
        .par_iter()
        .enumerate()
        .flat_map_iter(|(i, setup)| {
            // Every other record has rshogi's hand order, so that reordering is tested as well.
            let order = if i % 2 == 0 { HandKind::ALL } else { rshogi };
            Family::ALL.map(|family| {
                let bytes = reference::encode_in_order(family, setup, order).unwrap();
                check_packed(family, &bytes);
                accepted_when_damaged(family, bytes)
            })
        })
        .sum();
    // Side to move, king squares, colours and promotions can change without making the position invalid.
    assert!((100_000..400_000).contains(&accepted), "{accepted}");
}

/// The number of valid positions among all positions with one bit flipped.
fn accepted_when_damaged(family: Family, bytes: [u8; 32]) -> usize {
    let damaged = (0..256).map(|bit| {
        let mut damaged = bytes;
        damaged[bit / 8] ^= 1 << (bit % 8);
        damaged
    });
    damaged.filter(|damaged| check_damaged(family, damaged)).count()
}

/// Whether the bytes are a position, according to the reference codec.
fn check_damaged(family: Family, bytes: &[u8; 32]) -> bool {
    let decoded = packed::decode(family, bytes);
    assert_eq!(decoded, reference::decode(family, bytes));
    let encoded = |to| decoded.clone().map(|setup| packed::encode(to, &setup).unwrap());
    let transcoded = packed::transcode(family, bytes);
    assert_eq!(transcoded, encoded(family.other()));
    check_in_pairs(family, bytes, transcoded.ok());
    assert_eq!(packed::canonical(family, bytes), encoded(family));
    decoded.is_ok()
}

/// The digests were computed with Python's hashlib from the bytes and from the text.
#[test]
fn the_content_hash_has_the_documented_value() {
    let start: Setup = kyokumen_shogi::sfen::START.parse().unwrap();
    assert_eq!(ContentHash::of(&start).to_string(), "3b45a485c44f2fea723ce26c5376d45d");
    assert_eq!(
        ContentHash::of(&start.with_ply(99)).to_string(),
        "3b45a485c44f2fea723ce26c5376d45d"
    );
    let one_king: Setup = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
    assert_eq!(ContentHash::of(&one_king).to_string(), "74172e1e5e27b698a9aafe88521d38db");
}
