//! `hcpe`: Apery's packed position with evaluation, best move and result; 38 bytes, or 42 as Apery writes.
//!
//! Layouts from cshogi's `HuffmanCodedPosAndEval` and Apery's own; result flags from dlshogi's `hcpe2`.
//! See `docs/formats/hcpe.md`.

use super::field::{Field, Fields};
use super::layout::{Layout, ResultCode};
use super::packed;
use super::spec::{Codec, Framing, Spec, as_it_is};
use crate::ending::Ending;
use crate::packed::family::Family;

const LAYOUT: Layout = Layout {
    len: packed::LEN + 6,
    eval: Some(32),
    best_move: Some(34),
    result: Some((36, ResultCode::Absolute)),
    padding: 37..38,
    ..Layout::position_only(Family::Apery)
};

pub(super) const SPEC: Spec = Spec {
    name: "hcpe",
    extensions: &[],
    framing: Framing::Fixed(LAYOUT.len),
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: LAYOUT.fields().union(Fields::of(Field::Ending)),
    needs: LAYOUT.fields(),
    endings: &[],
    codec: Codec::Packed(LAYOUT),
};

const LAYOUT_WITH_FLAGS: Layout =
    Layout { result: Some((36, ResultCode::AbsoluteWithFlags)), ..LAYOUT };

/// The same records with flags that say how a game ended.
pub(super) const SPEC_WITH_FLAGS: Spec =
    Spec { name: "hcpe2", endings: ENDINGS, codec: Codec::Packed(LAYOUT_WITH_FLAGS), ..SPEC };

/// The ends of games that the flags of a result can say.
pub(super) const ENDINGS: &[Ending] = &[Ending::Repetition, Ending::Declaration, Ending::MoveLimit];

const LAYOUT_OF_APERY: Layout = Layout {
    len: packed::LEN + 10,
    ply: Some(32),
    eval: Some(34),
    best_move: Some(36),
    end_ply: Some(38),
    result: Some((40, ResultCode::Absolute)),
    padding: 41..42,
    ..Layout::position_only(Family::Apery)
};

/// The records of 42 bytes.
pub(super) const SPEC_OF_APERY: Spec = Spec {
    name: "hcpe42",
    extensions: &[],
    framing: Framing::Fixed(LAYOUT_OF_APERY.len),
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: LAYOUT_OF_APERY.fields().union(Fields::of(Field::Ending)),
    needs: LAYOUT_OF_APERY.fields(),
    endings: &[],
    codec: Codec::Packed(LAYOUT_OF_APERY),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GameResult;

    fn read(byte: u8) -> (Option<GameResult>, Option<Ending>) {
        let mut bytes = [0; LAYOUT.len];
        bytes[36] = byte;
        (LAYOUT.result(&bytes), LAYOUT.ending(&bytes))
    }

    #[test]
    fn flags_leave_the_result_readable() {
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
