//! The packed codecs and the records with random positions, random bytes and damaged records.
//!
//! The fuzz targets check the same properties; see `fuzz/`.

use kyokumen_format::packed::Family;
use kyokumen_format::{Ending, Format, GameResult, Record, VisitedMove, encode, packed};
use kyokumen_shogi::{Color, Hand, HandKind, Move, Piece, PieceKind, Setup, Square};
use kyokumen_testing::record_properties::{
    check_chunks, check_packed, check_record, check_setup, check_text,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any position with two kings: pieces of both sides on the board, promoted or not, in the hands and in the box. Two
/// pawns on a file and pieces that can never move occur.
fn arrangement() -> impl Strategy<Value = Setup> {
    let squares = Just((0..81).collect::<Vec<u8>>()).prop_shuffle();
    // The probability that a piece is on the board varies between cases.
    let pieces = (0u8..=8).prop_flat_map(|on_board| {
        vec((0u8..9, 0u8..4, any::<bool>()), 38).prop_map(move |p| (on_board, p))
    });
    (squares, pieces, any::<bool>(), any::<u16>()).prop_map(
        |(squares, (on_board, pieces), white, ply)| {
            let mut squares = squares.into_iter().map(usize::from);
            let mut board = [None; Square::COUNT];
            let mut counts = [[0u8; HandKind::COUNT]; 2];
            for color in Color::ALL {
                board[squares.next().unwrap()] = Some(Piece::new(color, PieceKind::King));
            }
            let set = HandKind::ALL.into_iter().flat_map(|kind| {
                std::iter::repeat_n(kind, usize::from(HandKind::SET[kind.index()]))
            });
            for (kind, (place, holder, promoted)) in set.zip(pieces) {
                let color = Color::ALL[usize::from(holder & 1)];
                if place < on_board {
                    let kind = kind.piece_kind();
                    let kind = kind.promoted().filter(|_| promoted).unwrap_or(kind);
                    board[squares.next().unwrap()] = Some(Piece::new(color, kind));
                } else if holder < 3 {
                    counts[color.index()][kind.index()] += 1;
                }
            }
            let hands = counts.map(|counts| Hand::from_counts(counts).unwrap());
            let side_to_move = Color::ALL[usize::from(white)];
            Setup::new(board, hands, side_to_move, ply).unwrap()
        },
    )
}

fn any_move() -> impl Strategy<Value = Move> {
    let on_board = (0u8..81, 1u8..81, any::<bool>()).prop_map(|(from, step, promotion)| {
        let square = |number| Square::new(number).unwrap();
        Move::new(square(from), square((from + step) % 81), promotion)
    });
    let drop = (0usize..7, 0u8..81)
        .prop_map(|(kind, to)| Move::drop(HandKind::ALL[kind], Square::new(to).unwrap()));
    prop_oneof![on_board, drop]
}

fn any_record() -> impl Strategy<Value = Record> {
    let result =
        prop_oneof![Just(GameResult::Draw), Just(GameResult::BlackWin), Just(GameResult::WhiteWin)];
    let candidate = (any_move(), any::<u16>())
        .prop_map(|(best_move, visits)| VisitedMove { best_move, visits });
    (
        arrangement(),
        proptest::option::of(any_move()),
        proptest::option::of(any::<i16>()),
        proptest::option::of(any::<u16>()),
        proptest::option::of(result),
        proptest::option::of(proptest::sample::select(Ending::ALL.to_vec())),
        proptest::option::of(any::<u16>()),
        vec(candidate, 0..3),
    )
        .prop_map(|(setup, best_move, eval_cp, ply, result, ending, end_ply, candidates)| {
            let setup = setup.with_ply(ply.unwrap_or(1));
            Record {
                best_move,
                eval_cp,
                ply,
                result,
                ending,
                end_ply,
                candidates,
                ..Record::new(setup)
            }
        })
}

fn family() -> impl Strategy<Value = Family> {
    prop_oneof![Just(Family::Apery), Just(Family::YaneuraOu)]
}

fn format() -> impl Strategy<Value = Format> {
    proptest::sample::select(Format::ALL.to_vec())
}

fn text_format() -> impl Strategy<Value = Format> {
    let is_text = |format: &Format| format.is_sparse();
    proptest::sample::select(Format::ALL.into_iter().filter(is_text).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn every_position_is_packed_and_read_back(family in family(), setup in arrangement()) {
        check_setup(family, &setup);
    }

    #[test]
    fn the_codecs_agree_on_random_bytes(
        family in family(),
        mut bytes in any::<[u8; 32]>(),
        kings in (0u8..81, 0u8..81),
        zeros in 0usize..32,
    ) {
        check_packed(family, &bytes);
        // Kings on the board and a sparse board as in real positions, so that the deeper checks are reached.
        let header = u16::from(bytes[0] & 1) | u16::from(kings.0) << 1 | u16::from(kings.1) << 8;
        bytes[..2].copy_from_slice(&header.to_le_bytes());
        check_packed(family, &bytes);
        bytes[2..2 + zeros.min(30)].fill(0);
        check_packed(family, &bytes);
    }

    #[test]
    fn the_codecs_agree_on_damaged_positions(
        family in family(),
        setup in arrangement(),
        flips in vec(0usize..256, 1..4),
        shift in 0usize..32,
    ) {
        let mut bytes = packed::encode(family, &setup).unwrap();
        for bit in flips {
            bytes[bit / 8] ^= 1 << (bit % 8);
            check_packed(family, &bytes);
        }
        bytes[2..].rotate_left(shift % 30);
        check_packed(family, &bytes);
    }

    #[test]
    fn records_are_read_back_from_every_format(record in any_record(), format in format()) {
        let mut out = Vec::new();
        let fill = "move=none,eval=0,ply=7,result=draw,end_ply=9".parse().unwrap();
        // Game formats cannot hold a position without a legal move.
        let encoded = encode(format, &record, &fill, &mut out);
        prop_assert!(encoded.is_ok() || format.holds_games());
        match format {
            Format::Sfen => check_text(&out),
            _ if format.record_len().is_some() => check_record(format, &out),
            _ => check_chunks(format, &out),
        }
    }

    #[test]
    fn random_bytes_never_panic(format in format(), bytes in vec(any::<u8>(), 0..48)) {
        check_record(format, &bytes);
        check_chunks(format, &bytes);
        check_text(&bytes);
    }

    #[test]
    fn text_like_bytes_never_panic(
        text in "(position )?(sfen )?[1-9PLNSGBRKplnsgbrk+/]{0,40}( |\t)[bw] (-|[1-9]?[PLNSGBRplnsgbr]{1,3}) ?[0-9]{0,6}(\t[-0-9a-zA-Z*+]{0,6}){0,6}\r?\n?"
    ) {
        check_text(text.as_bytes());
    }

    #[test]
    fn damaged_text_never_panics(
        records in vec(any_record(), 1..4),
        format in text_format(),
        damage in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut out = Vec::new();
        let fill = "move=none,eval=0,ply=7,result=draw".parse().unwrap();
        for record in records {
            encode(format, &record, &fill, &mut out).unwrap();
        }
        for (at, byte) in damage {
            let at = at.index(out.len());
            out[at] = byte;
        }
        check_chunks(format, &out);
        check_text(&out);
    }
}
