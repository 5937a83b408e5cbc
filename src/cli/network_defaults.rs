//! What the commands have in common that ask networks.

/// Default of `--batch`, in positions.
#[cfg(feature = "network")]
pub(super) const BATCH: usize = 32;

/// Default size of the table of each thread's mate searches.
#[cfg(feature = "network")]
pub(super) const MATE_TABLE_MIB: usize = 16;

/// dlshogi's value in self-play.
#[cfg(feature = "network")]
pub(super) const POLICY_TEMPERATURE: f32 = 1.66;

#[cfg(not(feature = "network"))]
pub(super) const NO_NETWORKS: &str = "this program was built without networks; `cargo install --path . --features network` builds them in";
