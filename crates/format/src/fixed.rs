//! Formats with records of fixed size: a packed position and fields at fixed offsets.
//!
//! - `hcp`: Apery's `HuffmanCodedPos` only, 32 bytes;
//! - `hcpe`, `hcpe2`: `hcp` with evaluation, best move and result, 38 bytes, like cshogi's `HuffmanCodedPosAndEval`.
//!   The flags in the result of `hcpe2` come from dlshogi;
//! - `hcpe42`: the 42 bytes that Apery itself writes;
//! - `psv`: YaneuraOu's `PackedSfenValue`, 40 bytes, from its `sfen_packer`.
//!
//! See `docs/formats/hcp.md`, `hcpe.md` and `psv.md`.

use super::field::{Field, Fields};
use super::layout::{Layout, ResultCode};
use super::packed;
use super::spec::{Codec, Framing, Spec, as_it_is};
use crate::ending::Ending;
use crate::packed::family::Family;

const fn spec(name: &'static str, layout: Layout) -> Spec {
    let fields = layout.fields();
    Spec {
        name,
        extensions: &[],
        framing: Framing::Fixed(layout.len),
        copy: as_it_is,
        header: b"",
        separator: b"",
        holds: fields,
        needs: fields,
        endings: &[],
        codec: Codec::Packed(layout),
    }
}

pub(super) const HCP: Spec = spec("hcp", Layout::position_only(Family::Apery));

const HCPE_LAYOUT: Layout = Layout {
    len: packed::LEN + 6,
    eval: Some(32),
    best_move: Some(34),
    result: Some((36, ResultCode::Absolute)),
    padding: 37..38,
    ..Layout::position_only(Family::Apery)
};

/// Flags in the result are read but not written.
pub(super) const HCPE: Spec = with_ending(spec("hcpe", HCPE_LAYOUT));

const HCPE2_LAYOUT: Layout =
    Layout { result: Some((36, ResultCode::AbsoluteWithFlags)), ..HCPE_LAYOUT };

/// Records of `hcpe` with flags in the result that state how the game ended.
pub(super) const HCPE2: Spec =
    Spec { name: "hcpe2", endings: ENDINGS, codec: Codec::Packed(HCPE2_LAYOUT), ..HCPE };

/// The endings that the flags of a result can express.
pub(super) const ENDINGS: &[Ending] = &[Ending::Repetition, Ending::Declaration, Ending::MoveLimit];

pub(super) const HCPE42: Spec = with_ending(spec(
    "hcpe42",
    Layout {
        len: packed::LEN + 10,
        ply: Some(32),
        eval: Some(34),
        best_move: Some(36),
        end_ply: Some(38),
        result: Some((40, ResultCode::Absolute)),
        padding: 41..42,
        ..Layout::position_only(Family::Apery)
    },
));

const fn with_ending(spec: Spec) -> Spec {
    Spec { holds: spec.holds.union(Fields::of(Field::Ending)), ..spec }
}

pub(super) const PSV: Spec = spec(
    "psv",
    Layout {
        len: packed::LEN + 8,
        eval: Some(32),
        best_move: Some(34),
        ply: Some(36),
        result: Some((38, ResultCode::SideToMove)),
        padding: 39..40,
        ..Layout::position_only(Family::YaneuraOu)
    },
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameResult;

    fn read(byte: u8) -> (Option<GameResult>, Option<Ending>) {
        let mut bytes = [0; HCPE_LAYOUT.len];
        bytes[36] = byte;
        (HCPE_LAYOUT.result(&bytes), HCPE_LAYOUT.ending(&bytes))
    }

    #[test]
    fn flags_do_not_change_the_result() {
        use GameResult::{BlackWin, Draw, WhiteWin};
        assert_eq!(
            [0, 1, 2].map(|byte| read(byte).0),
            [Some(Draw), Some(BlackWin), Some(WhiteWin)]
        );
        assert_eq!(read(0x16), (Some(Draw), Some(Ending::MoveLimit)));
        assert_eq!(read(0x10), (Some(Draw), Some(Ending::MoveLimit)));
        assert_eq!(read(2 + 4), (Some(WhiteWin), Some(Ending::Repetition)));
        assert_eq!(read(1 + 8), (Some(BlackWin), Some(Ending::Declaration)));
        assert_eq!([3, 7, 0xff].map(|byte| read(byte).0), [None; 3]);
        assert_eq!(read(1 + 4 + 8), (Some(BlackWin), None));
    }
}
