//! `hcp`: Apery's packed position and nothing else, 32 bytes.
//!
//! Layout from Apery's `HuffmanCodedPos`; see `docs/formats/hcp.md`.

use super::layout::Layout;
use super::spec::{Codec, Framing, Spec, as_it_is};
use super::{Fields, packed};
use crate::packed::family::Family;

pub(super) const SPEC: Spec = Spec {
    name: "hcp",
    extensions: &[],
    framing: Framing::Fixed(packed::LEN),
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: Fields::NONE,
    needs: Fields::NONE,
    endings: &[],
    codec: Codec::Packed(Layout::position_only(Family::Apery)),
};
