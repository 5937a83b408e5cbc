//! What the commands have in common that ask networks.

/// Positions of a batch unless something else is asked for.
#[cfg(feature = "network")]
pub(super) const BATCH: usize = 32;

/// Table of a thread's mate searches, in MiB.
#[cfg(feature = "network")]
pub(super) const MATE_TABLE_MIB: usize = 16;

/// dlshogi's in self-play.
#[cfg(feature = "network")]
pub(super) const POLICY_TEMPERATURE: f32 = 1.66;

/// What is said where networks are asked for that are not built in.
#[cfg(not(feature = "network"))]
pub(super) const NO_NETWORKS: &str = "this program was built without networks; `cargo install --path . --features network` builds them in";
