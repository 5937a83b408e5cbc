//! Names of the files of a run: `positions.hcp`, `positions-00003-of-00010.manifest.json`.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::identity::{MERGE, RunDescription};
use crate::error::Error;
use crate::records::account::{MANIFEST_SUFFIX, OutputEntry};
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::records::sink::PARTIAL_SUFFIX;
use crate::storage::path_text::text_of;

/// What the name of a checkpoint ends with.
pub(crate) const CHECKPOINT_SUFFIX: &str = ".checkpoint";

/// What the name of a lock ends with.
pub(crate) const LOCK_SUFFIX: &str = ".lock";

/// The start of the names of a run's files: `positions`, or `positions-00003-of-00010` for a shard.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunName {
    /// What all shards share.
    pub stem: String,
    /// How many shards there are; 1 where there are none.
    pub count: u32,
    /// Which one, from 1; 0 where there are none.
    pub index: u32,
}

impl RunName {
    /// That of a shard, or of the whole.
    pub fn new(stem: &str, shard: Option<Shard>) -> Self {
        let (index, count) = shard.map_or((0, 1), |shard| (shard.index(), shard.count()));
        Self { stem: stem.to_owned(), count, index }
    }

    /// Parses a file name with this suffix. A name that looks like a shard's may belong to a run without shards, whose
    /// input `split` has made; see [`RunName::whole`].
    pub fn of_file(name: &str, suffix: &str) -> Option<Self> {
        let name = name.strip_suffix(suffix)?;
        let shard = || {
            let (stem_and_index, count) = name.rsplit_once("-of-")?;
            let (stem, index) = stem_and_index.rsplit_once('-')?;
            Some((stem, Shard::new(index.parse().ok()?, count.parse().ok()?)?))
        };
        let run = shard().map(|(stem, shard)| Self::new(stem, Some(shard)));
        // Two names of one shard would be two shards.
        let run = run.filter(|run| run.to_string() == name);
        Some(run.unwrap_or_else(|| Self::new(name, None)))
    }

    /// The run of which a file is the manifest, or will be once it has its name.
    pub fn of_manifest(path: &Path) -> Option<Self> {
        let name = text_of(path.file_name().unwrap_or_default());
        Self::of_file(name.strip_suffix(PARTIAL_SUFFIX).unwrap_or(&name), MANIFEST_SUFFIX)
    }

    /// The name of a run without shards that has this name, even if it looks like that of a shard.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::new(&self.to_string(), None)
    }

    /// This name if the run states a shard. Otherwise the run has no shards, whatever the name looks like.
    #[must_use]
    pub fn stated(self, shard: Option<&str>) -> Self {
        if shard.is_some() { self } else { self.whole() }
    }

    /// The shard; none where there are none.
    pub const fn shard(&self) -> Option<Shard> {
        Shard::new(self.index, self.count)
    }

    /// The name of one of its files.
    pub fn file(&self, suffix: &str) -> String {
        format!("{self}{suffix}")
    }

    /// Checks that the manifest of this name is that of its shard, and that the outputs have the names that belong to
    /// it.
    ///
    /// # Errors
    /// [`Error`] with the first thing that cannot be.
    pub(crate) fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        let shard = run.shard.as_deref();
        let of_name = self.shard().map(|shard| shard.to_string());
        if shard != of_name.as_deref() {
            let word = |shard: Option<&str>| shard.unwrap_or("none").to_owned();
            return Err(Error::invalid(format!(
                "it is of shard {}, its name says {}",
                word(shard),
                word(of_name.as_deref())
            )));
        }
        let to = run.settings.get("to").and_then(Value::as_str).unwrap_or_default();
        let expected = |kind: OutputKind| match &*run.command {
            MERGE => self.to_string(),
            _ => self.file(&kind.suffix(to)),
        };
        let names = outputs.iter().map(|output| (&output.file, expected(output.kind)));
        let mut wrong = names.filter(|(file, expected)| *file != expected);
        wrong.next().map_or(Ok(()), |(file, expected)| {
            Err(Error::invalid(format!("it names the output {file}, which should be {expected}")))
        })
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stem, count, index } = self;
        match self.shard() {
            Some(_) => write!(f, "{stem}-{index:05}-of-{count:05}"),
            None => f.write_str(stem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_and_shards() {
        let of = |name: &str| RunName::of_file(name, MANIFEST_SUFFIX);
        let name = of("a-b-00003-of-00010.manifest.json").unwrap();
        assert_eq!((&*name.stem, name.index, name.count), ("a-b", 3, 10));
        assert_eq!(name.file(".hcp"), "a-b-00003-of-00010.hcp");
        for whole in
            ["a", "a-00003-of-00002", "a-00000-of-00002", "b-of-c", "a-3-of-10", "a-+0003-of-00010"]
        {
            let name = of(&format!("{whole}.manifest.json")).unwrap();
            assert_eq!((&*name.stem, name.shard()), (whole, None));
            assert_eq!(name.to_string(), whole);
        }
        assert_eq!(of("a.hcp"), None);
    }

    /// The input of a run without shards may be a part that `split` has made.
    #[test]
    fn only_a_stated_shard_is_one() {
        let name = RunName::of_file("a-00001-of-00003.lock", LOCK_SUFFIX).unwrap();
        assert_eq!(name.clone().stated(Some("1/3")), name);
        let whole = name.clone().stated(None);
        assert_eq!((&*whole.stem, whole.shard()), ("a-00001-of-00003", None));
        assert_eq!(whole.to_string(), name.to_string());
        assert_eq!(whole.clone().stated(None), whole);
    }
}
