//! The manifest of a run or of one of its shards, whatever the run makes: records, or games.

use std::path::Path;
use std::time::Duration;

use super::identity::Identity;
use super::manifest::{Manifest, ManifestHead, ParentManifest};
use super::run_name::RunName;
use super::selfplay_manifest::SelfPlayManifest;
use crate::records::account::OutputEntry;
use crate::records::account_check::ContradictionError;
use crate::records::account_file::{ManifestError, read};
use crate::records::counts::ImbalanceError;

/// The account of a run by what it makes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunManifest {
    /// Of the records of archives.
    Records(Box<Manifest>),
    /// Games of self-play.
    Games(Box<SelfPlayManifest>),
}

impl RunManifest {
    /// Reads one from a file, whatever it says.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read_unchecked(path: &Path) -> Result<Self, ManifestError> {
        if ManifestHead::read(path)?.is_of_games() {
            read(path).map(|manifest| Self::Games(Box::new(manifest)))
        } else {
            read(path).map(|manifest| Self::Records(Box::new(manifest)))
        }
    }

    /// Reads one from a file, and [checks](Self::check) it as what its name says.
    ///
    /// # Errors
    /// [`ManifestError`] if there is none, or something else.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let manifest = Self::read_unchecked(path)?;
        let checked = manifest.check(RunName::of_manifest(path).as_ref());
        checked.map_err(|why| ManifestError::Contradiction { path: path.to_owned(), why })?;
        Ok(manifest)
    }

    /// Checks that it can be right, by itself and as the manifest of the run of this name.
    ///
    /// # Errors
    /// [`ContradictionError`] with the first thing that cannot be.
    pub fn check(&self, name: Option<&RunName>) -> Result<(), ContradictionError> {
        match self {
            Self::Records(manifest) => manifest.check(name),
            Self::Games(manifest) => manifest.check(name),
        }
    }

    /// The run name in a file name, in view of the shard that this manifest states.
    pub(crate) fn named(&self, name: &RunName) -> RunName {
        match self {
            Self::Records(manifest) => manifest.named(name),
            Self::Games(manifest) => manifest.named(name),
        }
    }

    /// Checks that everything is accounted for.
    ///
    /// # Errors
    /// [`ImbalanceError`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), ImbalanceError> {
        match self {
            Self::Records(manifest) => manifest.check_balance(),
            Self::Games(manifest) => manifest.check_balance(),
        }
    }

    /// What the run was.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Records(manifest) => manifest.identity(),
            Self::Games(manifest) => manifest.identity(),
        }
    }

    /// What the records of its output are called.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Records(_) => "records",
            Self::Games(_) => "games",
        }
    }

    /// What was written.
    pub fn outputs(&self) -> &[OutputEntry] {
        match self {
            Self::Records(manifest) => &manifest.outputs,
            Self::Games(manifest) => &manifest.outputs,
        }
    }

    /// That of a run that reads the records of archives, each shard a part of them.
    pub const fn of_records(&self) -> Option<&Manifest> {
        match self {
            Self::Records(manifest) => Some(manifest),
            Self::Games(_) => None,
        }
    }

    /// The manifests of the shards whose outputs were joined.
    pub fn parents(&self) -> &[ParentManifest] {
        match self {
            Self::Records(manifest) => &manifest.parents,
            Self::Games(manifest) => &manifest.parents,
        }
    }

    /// Adds the account of the next shard of the same run.
    pub(crate) fn add(&mut self, next: &Self) {
        match (self, next) {
            (Self::Records(manifest), Self::Records(next)) => manifest.add(next),
            (Self::Games(manifest), Self::Games(next)) => manifest.add(next),
            _ => unreachable!("shards of one run make the same"),
        }
    }

    /// The account of shards together, whose outputs were joined.
    pub(crate) fn into_merged(
        self,
        outputs: Vec<OutputEntry>,
        parents: Vec<ParentManifest>,
        elapsed: Duration,
    ) -> Self {
        match self {
            Self::Records(mut manifest) => {
                // What was read is known shard by shard.
                manifest.inputs.iter_mut().for_each(|input| input.sha256 = None);
                Self::Records(Box::new(manifest.into_merged(outputs, parents, elapsed)))
            }
            Self::Games(manifest) => {
                Self::Games(Box::new(manifest.into_merged(outputs, parents, elapsed)))
            }
        }
    }

    /// The bytes of the file.
    pub fn to_json(&self) -> Vec<u8> {
        match self {
            Self::Records(manifest) => manifest.to_json(),
            Self::Games(manifest) => manifest.to_json(),
        }
    }
}
