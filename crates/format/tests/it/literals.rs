//! Records as literal bytes: the output of engines, and bytes that must be rejected.
//!
//! Positions come from the engines' output and from hand-made cases. Expected numbers are quoted, not computed.

use kyokumen_format::packed::{self, Family};
use kyokumen_format::{
    DecodeErrorKind, EncodeError, Field, Fields, Fill, Format, GameResult, RecordRef, Warning,
    encode,
};
use kyokumen_shogi::{Color, Move, Setup, Square, sfen};
use kyokumen_testing::literals::{START_HCP, START_PSV, bytes};

fn position(hex: &str) -> [u8; 32] {
    bytes(hex).try_into().unwrap()
}

fn decode_error(family: Family, hex: &str) -> (DecodeErrorKind, usize) {
    let error = packed::decode(family, &position(hex)).unwrap_err();
    (error.kind, error.offset)
}

#[test]
fn start_position_of_both_families() {
    let start: Setup = sfen::START.parse().unwrap();
    for (family, hex) in [(Family::Apery, START_HCP), (Family::YaneuraOu, START_PSV)] {
        assert_eq!(packed::decode(family, &position(hex)), Ok(start.clone()));
        assert_eq!(packed::encode(family, &start), Ok(position(hex)));
    }
}

#[test]
fn hands_promoted_pieces_and_the_box() {
    for (text, hcp, psv) in [
        (
            "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
            "6e01000bc00200182c1f00c0000030fc00208c723e3f922449922449ce39efbd",
            "6e010007c00100181c1f00c0000030fc002094711e1f922449922449d65aefbd",
        ),
        (
            "4k4/9/9/9/9/9/9/9/4K4 b - 1",
            "58240000000000000000008024499224499294524a6badd55a6bbdf7fe78bc5e",
            "58240000000000000000008024499224499294524aadb5b6d65a7beffd7afd7e",
        ),
        (
            "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "59a449210c9742fc1c9b42585e85f0288457213c9b42582e85f8382685303c5e",
            "59a451220cab44fc2ca744385e89f0488457223ca744385689f858468930bc7e",
        ),
    ] {
        let setup: Setup = text.parse().unwrap();
        for (family, hex) in [(Family::Apery, hcp), (Family::YaneuraOu, psv)] {
            let decoded = packed::decode(family, &position(hex)).unwrap();
            assert_eq!(decoded, setup);
            assert_eq!(packed::encode(family, &setup), Ok(position(hex)), "{text}");
        }
    }
}

/// The one-record test file that YaneuraOu writes for the start position with 2g2f, score 10, ply 1 and result 1.
#[test]
fn one_record_of_yaneuraou() {
    let record_bytes = bytes(&format!("{START_PSV}0a008e0701000100"));
    let record_ref = RecordRef::new(Format::Psv, &record_bytes).unwrap();
    let record = record_ref.record().unwrap();
    assert_eq!(record.setup.to_string(), sfen::START);
    assert_eq!(record.best_move, Move::from_usi("2g2f"));
    assert_eq!(record.eval_cp, Some(10));
    assert_eq!(record.ply, Some(1));
    assert_eq!(record.result, Some(GameResult::BlackWin));
    assert!(record_ref.warnings().unwrap().is_empty());
    let mut out = Vec::new();
    encode(Format::Psv, &record, &Fill::default(), &mut out).unwrap();
    assert_eq!(out, record_bytes);
}

/// Results are absolute in hcpe and relative to the side to move in psv.
#[test]
fn results_change_their_point_of_view() {
    let white_to_move = format!("59{}", &START_HCP[2..]);
    let hcpe = bytes(&format!("{white_to_move}64003b1e0100"));
    let record = RecordRef::new(Format::Hcpe, &hcpe).unwrap();
    assert_eq!(record.result(), Ok(Some(GameResult::BlackWin)));
    let mut psv = Vec::new();
    let fill: Fill = "ply=9".parse().unwrap();
    let written = record.convert(Format::Psv, &fill, &mut psv).unwrap();
    assert_eq!(psv, bytes(&format!("59{}64003b1e0900ff00", &START_PSV[2..])));
    assert_eq!(written.filled_in.iter().collect::<Vec<_>>(), [Field::Ply]);

    let mut back = Vec::new();
    let psv = RecordRef::new(Format::Psv, &psv).unwrap();
    let written = psv.convert(Format::Hcpe, &Fill::default(), &mut back).unwrap();
    assert_eq!(back, hcpe);
    assert_eq!(written.lost.to_string(), "ply");
}

#[test]
fn missing_fields_are_errors() {
    let hcp = bytes(START_HCP);
    let record = RecordRef::new(Format::Hcp, &hcp).unwrap();
    let mut out = Vec::new();
    for (fill, missing) in [
        ("", "the record lacks fields that the output needs: move, eval, ply, result"),
        ("move=none", "the record lacks fields that the output needs: eval, ply, result"),
        ("move=none,eval=0", "the record lacks fields that the output needs: ply, result"),
        ("move=none,eval=0,ply=1", "the record lacks fields that the output needs: result"),
    ] {
        let error = record.convert(Format::Psv, &fill.parse().unwrap(), &mut out).unwrap_err();
        assert_eq!(error.to_string(), missing);
        assert!(out.is_empty());
    }
    let fill = "move=none,eval=0,ply=1,result=draw".parse().unwrap();
    let written = record.convert(Format::Psv, &fill, &mut out).unwrap();
    assert_eq!(out, bytes(&format!("{START_PSV}0000000001000000")));
    assert_eq!(written.filled_in.to_string(), "move, eval, ply, result");
}

#[test]
fn a_line_with_an_unknown_result_needs_a_fill_value() {
    let line = format!("{}\t2g2f\t0\t1\tu", sfen::START);
    let record = RecordRef::new(Format::Sfen, line.as_bytes()).unwrap();
    let mut out = Vec::new();
    let error = record.convert(Format::Psv, &Fill::default(), &mut out).unwrap_err();
    assert_eq!(error, EncodeError::Missing { fields: Fields::of(Field::Result) }.into());
    let fill = "result=draw".parse().unwrap();
    let written = record.convert(Format::Psv, &fill, &mut out).unwrap();
    assert_eq!(out, bytes(&format!("{START_PSV}00008e0701000000")));
    assert_eq!(written.filled_in.to_string(), "result");
}

#[test]
fn errors_of_rejected_positions_give_reason_and_offset() {
    let king = |color, number| DecodeErrorKind::KingOffBoard { color, number };
    let apery = |hex: &str| decode_error(Family::Apery, hex);
    assert_eq!(
        apery(&"00".repeat(32)),
        (DecodeErrorKind::KingsOnOneSquare { square: Square::from_usi(b"1a").unwrap() }, 1)
    );
    assert_eq!(apery(&"ff".repeat(32)), (king(Color::Black, 127), 0));
    assert_eq!(apery(&format!("58d1{}", &START_HCP[4..])), (king(Color::White, 81), 1));
    // 19 pawns; the bits end within the last piece.
    assert_eq!(
        apery("58a449210cd757217e8e4d212caf427854115e85f06c0a61b9fe0af1714c0a61").0,
        DecodeErrorKind::BoardOverrun
    );
    // One gold fewer and no box: zeros are read as pawns, and the last pawn is cut off.
    assert_eq!(
        apery("58a449210cd757217e8e4d212caf42a0105e85f06c0a61b9fe0af1714c0a6100").0,
        DecodeErrorKind::HandOverrun
    );
    // A gold instead of a lance: all bits are used, but the set is wrong.
    let (kind, offset) = apery("58a449210cd757217e8e4d212caf427814c2ab109e4d212cd75f213e8e49213c");
    assert_eq!(kind, DecodeErrorKind::PieceSet { counts: [18, 3, 4, 4, 5, 2, 2] });
    assert_eq!(offset, 0);
    assert_eq!(
        kind.to_string(),
        "board, hands and box contain P18 L3 N4 S4 G5 B2 R2, expected P18 L4 N4 S4 G4 B2 R2"
    );
    // Bare kings, then the bits 0 1 1, which begin like a pawn of the box.
    assert_eq!(
        apery(&format!("5824{}80ff{}", "00".repeat(9), "00".repeat(19))).0,
        DecodeErrorKind::UnknownHandCode
    );
}

#[test]
fn a_missing_king_cannot_be_packed() {
    let setup: Setup = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
    for family in Family::ALL {
        assert_eq!(
            packed::encode(family, &setup),
            Err(EncodeError::MissingKing { color: Color::Black })
        );
    }
}

#[test]
fn the_error_of_a_truncated_record_gives_its_length() {
    for (format, expected) in [(Format::Hcp, 32), (Format::Hcpe, 38), (Format::Psv, 40)] {
        for found in [0, 1, expected - 1, expected + 1] {
            let error = RecordRef::new(format, &vec![0; found]).unwrap_err();
            assert_eq!(error.kind, DecodeErrorKind::Length { expected, found });
        }
    }
}

#[test]
fn unusual_fields_are_read_and_counted() {
    use Warning::{
        MoveIllegal, MoveMalformed, MoveNone, PaddingNotZero, PlyMax, PlyZero, ResultFlags,
        ResultOutOfRange,
    };
    let hcpe = |tail: &str| (Format::Hcpe, format!("{START_HCP}{tail}"));
    let psv = |tail: &str| (Format::Psv, format!("{START_PSV}{tail}"));
    for ((format, hex), expected) in [
        (hcpe("32003b1e0100"), &[][..]),
        (hcpe("00803b1e0200"), &[]),
        (hcpe("000000000000"), &[MoveNone]),
        (hcpe("00000e380000"), &[MoveMalformed]),
        (hcpe("00003b1f0000"), &[MoveIllegal]),
        (hcpe("0000ffff0000"), &[MoveMalformed]),
        (hcpe("00003b1e0300"), &[ResultOutOfRange]),
        (hcpe("00003b1e1600"), &[ResultFlags]),
        (hcpe("00003b1eff00"), &[ResultOutOfRange, ResultFlags]),
        (hcpe("00003b1e00aa"), &[PaddingNotZero]),
        (psv("32003b1e01000100"), &[]),
        (psv("00803b1e0100ff00"), &[]),
        (psv("00003b1e00000000"), &[PlyZero]),
        (psv("00003b1effff0000"), &[PlyMax]),
        (psv("00003b1e01000200"), &[ResultOutOfRange]),
        (psv("0000000001000000"), &[MoveNone]),
        (psv("00003b1e010000aa"), &[PaddingNotZero]),
    ] {
        let bytes = bytes(&hex);
        let warnings = RecordRef::new(format, &bytes).unwrap().warnings().unwrap();
        assert_eq!(warnings.iter().collect::<Vec<_>>(), expected, "{hex}");
    }
}

#[test]
fn positions_that_break_rules_are_read_with_warnings() {
    for (text, expected) in [
        ("4k4/9/9/9/4P4/9/4P4/9/4K4 b - 1", Warning::TwoPawns),
        ("4k3P/9/9/9/9/9/9/9/4K4 b - 1", Warning::DeadPiece),
        ("4k4/4P4/9/9/9/9/9/9/4K4 b - 1", Warning::OpponentInCheck),
    ] {
        for format in [Format::Hcp, Format::Sfen] {
            let record = RecordRef::new(Format::Sfen, text.as_bytes()).unwrap().record().unwrap();
            let mut out = Vec::new();
            encode(format, &record, &Fill::default(), &mut out).unwrap();
            let out = out.strip_suffix(b"\n").unwrap_or(&out);
            let warnings = RecordRef::new(format, out).unwrap().warnings().unwrap();
            assert!(warnings.contains(expected), "{text}: {warnings:?}");
        }
    }
}

#[test]
fn a_fill_move_must_be_legal() {
    let fill: Fill = "move=2g2f,eval=10,result=black,ply=1".parse().unwrap();
    assert_eq!(fill.to_string(), "move=2g2f,eval=10,ply=1,result=black");
    let start = format!("{}\n", kyokumen_shogi::sfen::START);
    let record = RecordRef::new(Format::Sfen, start.trim_end().as_bytes()).unwrap();
    let mut psv = Vec::new();
    let changes = record.convert(Format::Psv, &fill, &mut psv).unwrap();
    assert_eq!(psv[..4], [0x58, 0xa4, 0x51, 0x22]);
    // Score 10, move 2g2f in YaneuraOu's encoding, ply 1, the side to move won.
    assert_eq!(psv[32..], [10, 0, 0x8e, 0x07, 1, 0, 1, 0]);
    assert_eq!(changes.filled_in.to_string(), "move, eval, result");

    // Packed to packed, where usually no board is built.
    let mut hcp = Vec::new();
    record.convert(Format::Hcp, &Fill::default(), &mut hcp).unwrap();
    let packed = RecordRef::new(Format::Hcp, &hcp).unwrap();
    let mut again = Vec::new();
    packed.convert(Format::Psv, &fill, &mut again).unwrap();
    assert_eq!(again, psv);
    let illegal: Fill = "move=2g2e,eval=10,result=black,ply=1".parse().unwrap();
    for record in [record, packed] {
        let mut out = Vec::new();
        let error = record.convert(Format::Psv, &illegal, &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the record has no move, and the move to fill in, 2g2e, is illegal in its position"
        );
        assert!(out.is_empty());
    }
    // A field that the record states is kept, even an explicit "no move".
    let psv_record = RecordRef::new(Format::Psv, &psv).unwrap();
    let mut kept = Vec::new();
    psv_record.convert(Format::Hcpe, &illegal, &mut kept).unwrap();
    assert_eq!(kept[34..36], [0x8e, 0x07]);
}
