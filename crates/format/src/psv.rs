//! `psv`: YaneuraOu's `PackedSfenValue`, 40 bytes.
//!
//! Layout from YaneuraOu's `sfen_packer`; see `docs/formats/psv.md`.

use super::layout::{Layout, ResultCode};
use super::packed;
use super::spec::{Codec, Framing, Spec, as_it_is};
use crate::packed::family::Family;

const LAYOUT: Layout = Layout {
    len: packed::LEN + 8,
    eval: Some(32),
    best_move: Some(34),
    ply: Some(36),
    result: Some((38, ResultCode::SideToMove)),
    padding: 39..40,
    ..Layout::position_only(Family::YaneuraOu)
};

pub(super) const SPEC: Spec = Spec {
    name: "psv",
    extensions: &[],
    framing: Framing::Fixed(LAYOUT.len),
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: LAYOUT.fields(),
    needs: LAYOUT.fields(),
    endings: &[],
    codec: Codec::Packed(LAYOUT),
};
