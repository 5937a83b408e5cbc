//! USI options of the mate solver, with their ranges.
//!
//! `USI_Hash` is a name of the protocol, `Threads` and `MultiPV` are names of most engines, and `DepthLimit` and
//! `NodesLimit` (0 if unlimited) are names of YaneuraOu.

use std::num::NonZero;

use super::command::{Fault, Setting};
use crate::mate::judge::MAX_HASH_MB;
use crate::solver::{Limits, MAX_PLIES, TableSize, Threads, WhenHopeless};
use crate::storage::platform;

/// Options of type `spin` with their current values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Spins<const N: usize> {
    spins: &'static [Spin; N],
    values: [u64; N],
}

#[derive(PartialEq, Eq, Debug)]
pub(super) struct Spin {
    pub(super) name: &'static str,
    pub(super) default: u64,
    pub(super) min: u64,
    pub(super) max: u64,
}

/// Options that GUIs set although the engine does not offer them. They are ignored.
const IGNORED_OPTIONS: [&str; 1] = ["USI_Ponder"];

impl<const N: usize> Spins<N> {
    pub(super) fn new(spins: &'static [Spin; N]) -> Self {
        Self { spins, values: std::array::from_fn(|index| spins[index].default) }
    }

    pub(super) const fn value(&self, index: usize) -> u64 {
        self.values[index]
    }

    /// `option` lines for the answer to `usi`.
    pub(super) fn offers(&self) -> impl Iterator<Item = String> + use<N> {
        self.spins.iter().map(|Spin { name, default, min, max }| {
            format!("option name {name} type spin default {default} min {min} max {max}")
        })
    }

    /// Sets a value. Returns `None` if there is no such option. Names are case-insensitive.
    pub(super) fn set(&mut self, Setting { name, value }: &Setting) -> Option<Result<(), Fault>> {
        if IGNORED_OPTIONS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Some(Ok(()));
        }
        let index = self.spins.iter().position(|spin| spin.name.eq_ignore_ascii_case(name))?;
        let &Spin { name, min, max, .. } = &self.spins[index];
        let range = format_args!("a number from {min} to {max}");
        Some(match value.parse() {
            Ok(number) if (min..=max).contains(&number) => {
                self.values[index] = number;
                Ok(())
            }
            _ if value.is_empty() => Err(format!("setoption: {name} needs a value, {range}")),
            _ => Err(format!("setoption: {name} must be {range}, not {value}")),
        })
    }
}

/// Options of the mate solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Options(Spins<{ SPINS.len() }>);

const HASH: usize = 0;
const DEPTH: usize = 1;
const NODES: usize = 2;
const THREADS: usize = 3;
const MULTI_PV: usize = 4;

/// GUIs read the values of options as signed integers.
const MAX_NODES: u64 = i64::MAX as u64;

/// Maximum number of legal moves in a position.
const MAX_MOVES: u64 = 593;

const SPINS: [Spin; 5] = [
    Spin { name: "USI_Hash", default: 256, min: 1, max: MAX_HASH_MB as u64 },
    Spin { name: "DepthLimit", default: 0, min: 0, max: MAX_PLIES as u64 },
    Spin { name: "NodesLimit", default: 0, min: 0, max: MAX_NODES },
    // 0 is all cores, as with `--threads`.
    Spin { name: "Threads", default: 0, min: 0, max: 1024 },
    Spin { name: "MultiPV", default: 1, min: 1, max: MAX_MOVES },
];

#[cfg(feature = "network")]
const SPINS_WITH_PLAYER: [Spin; 5] = [
    Spin { name: "Mate_Hash", ..SPINS[HASH] },
    Spin { name: "Mate_DepthLimit", ..SPINS[DEPTH] },
    Spin { name: "Mate_NodesLimit", ..SPINS[NODES] },
    Spin { name: "Mate_Threads", ..SPINS[THREADS] },
    Spin { name: "Mate_MultiPV", ..SPINS[MULTI_PV] },
];

impl Options {
    pub(super) fn new() -> Self {
        Self(Spins::new(&SPINS))
    }

    /// Options with the prefix `Mate_`, because the options of the player have the usual names.
    #[cfg(feature = "network")]
    pub(super) fn with_player() -> Self {
        Self(Spins::new(&SPINS_WITH_PLAYER))
    }

    pub(super) fn offers(&self) -> impl Iterator<Item = String> + use<> {
        self.0.offers()
    }

    pub(super) fn set(&mut self, setting: &Setting) -> Option<Result<(), Fault>> {
        self.0.set(setting)
    }

    pub(super) fn table(&self) -> TableSize {
        TableSize::from_mib(usize::try_from(self.0.value(HASH)).unwrap_or(usize::MAX))
    }

    pub(super) fn threads(&self) -> Threads {
        let threads = usize::try_from(self.0.value(THREADS)).unwrap_or(1);
        NonZero::new(platform::threads(threads)).map_or(Threads::ONE, Threads::new)
    }

    /// Number of mating first moves to report.
    pub(super) fn multi_pv(&self) -> usize {
        usize::try_from(self.0.value(MULTI_PV)).unwrap_or(1)
    }

    pub(super) fn limits(&self) -> Limits {
        let depth_plies = match self.0.value(DEPTH) {
            0 => Limits::NONE.depth_plies,
            depth => u16::try_from(depth).unwrap_or(MAX_PLIES),
        };
        let nodes = match self.0.value(NODES) {
            0 => Limits::NONE.nodes,
            nodes => nodes,
        };
        Limits { depth_plies, nodes, when_hopeless: WhenHopeless::GoOn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, value: &str) -> Setting {
        Setting { name: name.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn defaults_are_unlimited() {
        assert_eq!(Options::new().limits(), Limits::NONE);
        assert_eq!(Options::new().table(), TableSize::from_mib(256));
        assert_eq!(Options::new().threads().count.get(), platform::threads(0));
        assert_eq!(Options::new().multi_pv(), 1);
    }

    #[test]
    fn set_changes_the_values() {
        let mut options = Options::new();
        for (name, value) in [
            ("USI_Hash", "64"),
            ("depthlimit", "31"),
            ("NodesLimit", "1000"),
            ("Threads", "3"),
            ("MultiPV", "5"),
        ] {
            assert_eq!(options.set(&setting(name, value)), Some(Ok(())));
        }
        assert_eq!(options.table(), TableSize::from_mib(64));
        assert_eq!((options.threads().count.get(), options.multi_pv()), (3, 5));
        let limits = options.limits();
        assert_eq!((limits.depth_plies, limits.nodes), (31, 1000));
        assert_eq!(limits.when_hopeless, WhenHopeless::GoOn, "a single search uses all its nodes");
    }

    #[test]
    fn invalid_settings_change_nothing() {
        let mut options = Options::new();
        for (name, value) in [
            ("USI_Hash", "0"),
            ("USI_Hash", "1048577"),
            ("USI_Hash", "many"),
            ("USI_Hash", ""),
            ("DepthLimit", "4097"),
            ("NodesLimit", "-1"),
            ("Threads", "1025"),
            ("MultiPV", "0"),
            ("Contempt", "2"),
        ] {
            assert_ne!(options.set(&setting(name, value)), Some(Ok(())), "{name} {value}");
        }
        assert_eq!(options.set(&setting("USI_Ponder", "true")), Some(Ok(())));
        assert_eq!(options, Options::new());
    }
}
