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

/// The suffix of checkpoint files.
pub(crate) const CHECKPOINT_SUFFIX: &str = ".checkpoint";

/// The suffix of lock files.
pub(crate) const LOCK_SUFFIX: &str = ".lock";

/// The base name of a run's files: `positions`, or `positions-00003-of-00010` for a shard.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RunName {
    /// The base name without the shard.
    pub stem: String,
    /// Number of shards; 1 for a run without shards.
    pub count: u32,
    /// Number of the shard, from 1; 0 for a run without shards.
    pub index: u32,
}

impl RunName {
    /// The name of a shard, or of a run without shards.
    pub fn new(stem: &str, shard: Option<Shard>) -> Self {
        let (index, count) = shard.map_or((0, 1), |shard| (shard.index(), shard.count()));
        Self { stem: stem.to_owned(), count, index }
    }

    /// Parses a file name with this suffix. `None` if the suffix is missing.
    ///
    /// A name that looks like the name of a shard may belong to a run without shards if its input is a part that
    /// `split` wrote; see [`RunName::whole`].
    pub fn from_file_name(name: &str, suffix: &str) -> Option<Self> {
        let name = name.strip_suffix(suffix)?;
        let shard = || {
            let (stem_and_index, count) = name.rsplit_once("-of-")?;
            let (stem, index) = stem_and_index.rsplit_once('-')?;
            Some((stem, Shard::new(index.parse().ok()?, count.parse().ok()?)?))
        };
        let run = shard().map(|(stem, shard)| Self::new(stem, Some(shard)));
        // Other spellings of the numbers are rejected, so that each shard has exactly one name.
        let run = run.filter(|run| run.to_string() == name);
        Some(run.unwrap_or_else(|| Self::new(name, None)))
    }

    /// Parses the path of a manifest or of a partial manifest.
    pub fn from_manifest_path(path: &Path) -> Option<Self> {
        let name = text_of(path.file_name().unwrap_or_default());
        Self::from_file_name(name.strip_suffix(PARTIAL_SUFFIX).unwrap_or(&name), MANIFEST_SUFFIX)
    }

    /// The same name for a run without shards, even if it looks like the name of a shard.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self::new(&self.to_string(), None)
    }

    /// Interprets the name by the shard that the run states. If it states none, the run has no shards, even if the name
    /// looks like the name of a shard.
    #[must_use]
    pub fn stated(self, shard: Option<&str>) -> Self {
        if shard.is_some() { self } else { self.whole() }
    }

    /// The shard. `None` for a run without shards.
    pub const fn shard(&self) -> Option<Shard> {
        Shard::new(self.index, self.count)
    }

    /// The name of the run's file with this suffix.
    pub fn file(&self, suffix: &str) -> String {
        format!("{self}{suffix}")
    }

    /// Checks that a manifest with this name states the same shard, and that its outputs have the matching names.
    ///
    /// # Errors
    /// [`Error`] with the first contradiction.
    pub(crate) fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        let shard = run.shard.as_deref();
        let named_shard = self.shard().map(|shard| shard.to_string());
        if shard != named_shard.as_deref() {
            let text = |shard: Option<&str>| shard.unwrap_or("none").to_owned();
            return Err(Error::invalid(format!(
                "its shard is {}, but the shard in its name is {}",
                text(shard),
                text(named_shard.as_deref())
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
            Err(Error::invalid(format!("it lists the output {file}, expected {expected}")))
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
    fn a_name_is_a_shard_only_in_canonical_spelling() {
        let parse = |name: &str| RunName::from_file_name(name, MANIFEST_SUFFIX);
        let name = parse("a-b-00003-of-00010.manifest.json").unwrap();
        assert_eq!((&*name.stem, name.index, name.count), ("a-b", 3, 10));
        assert_eq!(name.file(".hcp"), "a-b-00003-of-00010.hcp");
        for whole in
            ["a", "a-00003-of-00002", "a-00000-of-00002", "b-of-c", "a-3-of-10", "a-+0003-of-00010"]
        {
            let name = parse(&format!("{whole}.manifest.json")).unwrap();
            assert_eq!((&*name.stem, name.shard()), (whole, None));
            assert_eq!(name.to_string(), whole);
        }
        assert_eq!(parse("a.hcp"), None);
    }

    /// The input of a run without shards may be a part that `split` wrote.
    #[test]
    fn a_name_is_a_shard_only_if_the_run_states_one() {
        let name = RunName::from_file_name("a-00001-of-00003.lock", LOCK_SUFFIX).unwrap();
        assert_eq!(name.clone().stated(Some("1/3")), name);
        let whole = name.clone().stated(None);
        assert_eq!((&*whole.stem, whole.shard()), ("a-00001-of-00003", None));
        assert_eq!(whole.to_string(), name.to_string());
        assert_eq!(whole.clone().stated(None), whole);
    }
}
