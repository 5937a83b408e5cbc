//! Openings: the start positions of games, taken from an archive. No record is repeated before all have been used.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use kyokumen_selfplay::Openings;

use crate::error::{Error, ErrorKind};
use crate::format::{Fill, Format, Record, RecordRef, encode};
use crate::game::Permutation;
use crate::jobs::game_totals::FileOrigin;
use crate::jobs::manifest::ParentManifest;
use crate::mate::judge::{Judge, MateSettings};
use crate::mate::positions::Positions;
use crate::random::SplitMix64;
use crate::records::archive::Archive;
use crate::records::format_name::FormatName;
use crate::records::lineage::{ListedOutput, listed_output};
use crate::records::position_verdict::PositionVerdict;
use crate::records::source::{Input, InputLocation};
use crate::shogi::Position;
use crate::storage::checksum::Sha256Sum;
use crate::storage::files;
use crate::storage::path_text::text_of;

#[derive(Debug)]
pub(super) enum OpeningPositions {
    /// Read from the file on demand.
    Archive(Archive),
    /// Positions of a file without random access, packed into 32 bytes each.
    Packed(Vec<u8>),
}

const PACKED: Format = Format::Hcp;
const PACKED_BYTES: usize = 32;

impl OpeningPositions {
    /// Opens a file. Reads the whole file if it has no random access or is an object in a store.
    pub(super) fn open(
        input: &Input,
        path: &Path,
        from: Option<FormatName>,
    ) -> Result<Self, Error> {
        let positions = match Archive::from_input(input) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NoRandomAccess)
                    || matches!(input.location, InputLocation::Object(_)) =>
            {
                Self::read(path, from)?
            }
            archive => Self::Archive(archive?),
        };
        if positions.len() == 0 {
            return Err(Error::usage(format!(
                "{} contains no records, but every game needs an opening",
                input.name
            )));
        }
        Ok(positions)
    }

    fn read(path: &Path, from: Option<FormatName>) -> Result<Self, Error> {
        let mut positions = Positions::open(path, from);
        let name = positions.input().name.clone();
        let mut packed = Vec::new();
        while let Some(position) = positions.next().transpose()? {
            let bad = |location| Error::invalid(format!("{name}, {location}")).in_file(&name);
            let read = position.map_err(|error| bad(error.location).with_source(error.error))?;
            let record = Record::new(read.position.setup());
            let encoded = encode(PACKED, &record, &Fill::default(), &mut packed);
            encoded.map_err(|error| bad(read.location).with_source(error))?;
        }
        Ok(Self::Packed(packed))
    }

    fn len(&self) -> u64 {
        match self {
            Self::Archive(archive) => archive.len(),
            Self::Packed(packed) => (packed.len() / PACKED_BYTES) as u64,
        }
    }

    fn get(&self, record: u64) -> Result<Position, Box<dyn std::error::Error + Send + Sync>> {
        let setup = match self {
            Self::Archive(archive) => {
                let bytes = archive.get(record)?.ok_or("the archive became shorter")?;
                bytes.read()?.setup()?
            }
            Self::Packed(packed) => {
                let (records, _) = packed.as_chunks::<PACKED_BYTES>();
                RecordRef::new(PACKED, &records[usize::try_from(record)?])?.setup()?
            }
        };
        Ok(Position::try_from(&setup)?)
    }
}

/// Positions of earlier games, from which a share of the games start.
#[derive(Debug)]
pub(super) struct Forks {
    pub(super) positions: OpeningPositions,
    pub(super) share: f32,
}

/// Distinguishes the random numbers of forks from others of the run.
const FORK: u64 = 0x666f_726b_6f66_6761;

impl Forks {
    /// The record that game `number` starts from, if it is a fork. A record may be drawn more than once.
    fn record(&self, seed: u64, number: u64) -> Option<u64> {
        let mut random = SplitMix64::new(SplitMix64::nth_bits(seed ^ FORK, number));
        let records = usize::try_from(self.positions.len()).ok()?;
        let is_fork = random.unit() < f64::from(self.share);
        is_fork.then(|| random.below(records) as u64)
    }
}

/// The openings of a run. The opening of a game depends only on its number and the seed.
pub(super) struct RunOpenings {
    /// `None`: the start position of an even game.
    positions: Option<OpeningPositions>,
    forks: Option<Forks>,
    seed: u64,
    /// Finds openings with a forced mate, for or against the side to move. They are left out. `None` keeps all.
    filter: Option<Mutex<Judge>>,
}

impl RunOpenings {
    pub(super) fn new(
        positions: Option<OpeningPositions>,
        forks: Option<Forks>,
        seed: u64,
        filter: Option<&MateSettings>,
    ) -> Result<Self, Error> {
        let judge = filter.map(Judge::try_new).transpose().map_err(|source| {
            let message = "cannot start the mate search for openings";
            Error::new(ErrorKind::Resources, message).with_source(source)
        })?;
        Ok(Self { positions, forks, seed, filter: judge.map(Mutex::new) })
    }

    fn position(&self, number: u64) -> Result<Position, Box<dyn std::error::Error + Send + Sync>> {
        let fork = |forks: &Forks| forks.record(self.seed, number);
        let (positions, record) = match (&self.forks, self.forks.as_ref().and_then(fork)) {
            (Some(forks), Some(record)) => (&forks.positions, record),
            _ => match &self.positions {
                Some(positions) => (positions, self.record(positions.len(), number)),
                None => return Ok(Position::start()),
            },
        };
        positions.get(record).map_err(|error| format!("record {record}: {error}").into())
    }

    fn record(&self, records: u64, number: u64) -> u64 {
        // Each pass over the records has a different order.
        let order = SplitMix64::nth_bits(self.seed, u64::MAX - number / records);
        Permutation::new(records, order).at(number % records)
    }
}

impl Openings for RunOpenings {
    fn opening(
        &self,
        number: u64,
    ) -> Result<Option<Position>, Box<dyn std::error::Error + Send + Sync>> {
        let position = self.position(number)?;
        let Some(filter) = &self.filter else { return Ok(Some(position)) };
        let mut judge = filter.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = judge.judge(&position, &AtomicBool::new(false)).verdict;
        Ok(Some(position)
            .filter(|_| !matches!(verdict, PositionVerdict::Win | PositionVerdict::Loss)))
    }
}

/// Returns the origin of a file if a manifest in its folder lists an output with its name and size. Ignores unreadable
/// manifests because the games do not depend on them.
pub(super) fn file_origin(path: &Path) -> Option<FileOrigin> {
    let ListedOutput { manifest, command, entry } = listed_output(path)?;
    let file = text_of(manifest.file_name()?);
    let sha256 = files::open(&manifest).and_then(Sha256Sum::of_reader).ok()?;
    Some(FileOrigin { command, manifest: ParentManifest { file, sha256 }, sha256: entry.sha256 })
}
