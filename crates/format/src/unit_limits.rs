//! How long what is read at once may be: memory stays bounded whatever the input.

/// The longest line that is read as one. A position with every field takes some 200 bytes.
pub const MAX_LINE_BYTES: usize = 1 << 16;

/// The largest group of records, a game for instance, that is read as one. A game of a thousand moves, each
/// with as many candidates as there are legal moves, takes 2.4 MB.
pub const MAX_GROUP_BYTES: usize = 1 << 24;
