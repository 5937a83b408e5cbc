//! Selects the shard of a job from the environment variables of job systems.
//!
//! Slurm: sbatch(1), "Job arrays". Kubernetes: "Indexed Job for Parallel Processing". Grid Engine: qsub(1),
//! `-t`. PBS: the user's guide, "Job arrays".

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::records::shard::{Shard, shard_error};
use crate::storage::value_error::ParseValueError;

/// The shard, as in `3/10`. Takes precedence over the variables of job systems.
const OWN: &str = "KYOKUMEN_SHARD";
/// The number of shards, unless `--shard auto/N` gives it.
const OWN_COUNT: &str = "KYOKUMEN_SHARDS";

/// Which shard to process: a given one, or the one that the job system assigns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ShardChoice {
    /// A given shard.
    This(Shard),
    /// The shard that the job system assigns.
    FromJob {
        /// Number of shards, if the job system does not provide it.
        count: Option<u32>,
    },
}

/// Names of the variables of a job system with job arrays.
struct Array {
    index: &'static str,
    first: &'static str,
    last: &'static str,
    step: &'static str,
    /// `None` if no variable holds the number of tasks.
    count: Option<&'static str>,
}

const SLURM: Array = Array {
    index: "SLURM_ARRAY_TASK_ID",
    first: "SLURM_ARRAY_TASK_MIN",
    last: "SLURM_ARRAY_TASK_MAX",
    step: "SLURM_ARRAY_TASK_STEP",
    count: Some("SLURM_ARRAY_TASK_COUNT"),
};

const GRID_ENGINE: Array = Array {
    index: "SGE_TASK_ID",
    first: "SGE_TASK_FIRST",
    last: "SGE_TASK_LAST",
    step: "SGE_TASK_STEPSIZE",
    count: None,
};

const KUBERNETES: &str = "JOB_COMPLETION_INDEX";
const PBS: &str = "PBS_ARRAY_INDEX";

/// The value that Grid Engine sets outside of arrays.
const UNDEFINED: &str = "undefined";

impl ShardChoice {
    /// Returns the shard. [`Self::FromJob`] reads the environment variables of this process.
    ///
    /// # Errors
    /// [`Error`] with the variable that is missing or wrong.
    pub fn resolve(self) -> Result<Shard, Error> {
        self.resolve_with(|name| std::env::var(name).ok())
    }

    fn resolve_with(self, read: impl Fn(&str) -> Option<String>) -> Result<Shard, Error> {
        let count = match self {
            Self::This(shard) => return Ok(shard),
            Self::FromJob { count } => count,
        };
        let variables = Variables(&read);
        if let Some(own) = read(OWN) {
            return own
                .parse()
                .map_err(|error: ParseValueError| Error::usage(format!("{OWN}: {error}")));
        }
        if let Some(index) = variables.number(SLURM.index)? {
            return variables.task(&SLURM, index, count);
        }
        if let Some(index) = variables.number(KUBERNETES)? {
            return numbered(KUBERNETES, index, 0, variables.count(count, KUBERNETES)?);
        }
        if let Some(index) = variables.number(GRID_ENGINE.index)? {
            return variables.task(&GRID_ENGINE, index, count);
        }
        match variables.number(PBS)? {
            Some(index) => numbered(PBS, index, 1, variables.count(count, PBS)?),
            None => Err(Error::usage(format!(
                "--shard auto: no job variable is set; set {OWN}, or run in a job with SLURM_ARRAY_TASK_ID, \
                 JOB_COMPLETION_INDEX, SGE_TASK_ID or PBS_ARRAY_INDEX"
            ))),
        }
    }
}

/// The shard of a task. Task numbers start at `first`.
fn numbered(name: &'static str, index: u32, first: u32, count: u32) -> Result<Shard, Error> {
    let shard = index.checked_sub(first).and_then(|before| Shard::new(before + 1, count));
    let last = (first + count).saturating_sub(1);
    shard.ok_or_else(|| {
        Error::usage(format!(
            "--shard auto/{count}: {name} is {index}; number the tasks from {first} to {last}"
        ))
    })
}

struct Variables<'a, F>(&'a F);

impl<F: Fn(&str) -> Option<String>> Variables<'_, F> {
    fn number(&self, name: &'static str) -> Result<Option<u32>, Error> {
        match (self.0)(name) {
            Some(value) if value == UNDEFINED => Ok(None),
            Some(value) => match value.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(Error::usage(format!(
                    "--shard auto: {name} is {value:?}, which is not a number"
                ))),
            },
            None => Ok(None),
        }
    }

    fn count(&self, given: Option<u32>, index: &'static str) -> Result<u32, Error> {
        match given {
            Some(count) => Ok(count),
            None => self.number(OWN_COUNT)?.ok_or_else(|| Error::usage(format!("--shard auto: {index} is set, but the number of shards is unknown; use --shard auto/N or \
                     set {OWN_COUNT}"))),
        }
    }

    /// The shard with the number of the task if the number of shards is given, otherwise with its place in the array.
    fn task(&self, array: &Array, index: u32, given: Option<u32>) -> Result<Shard, Error> {
        match given.map_or_else(|| self.number(OWN_COUNT), |count| Ok(Some(count)))? {
            Some(count) => numbered(array.index, index, 1, count),
            None => self.in_array(array, index),
        }
    }

    /// The place of a task in an array, which must have no gaps.
    fn in_array(&self, array: &Array, index: u32) -> Result<Shard, Error> {
        let needed = |name| match self.number(name)? {
            Some(number) => Ok(number),
            None => Err(Error::usage(format!(
                "--shard auto: {} is set, but {name} is not",
                array.index
            ))),
        };
        let (first, last) = (needed(array.first)?, needed(array.last)?);
        let step = needed(array.step)?.max(1);
        let count = last.saturating_sub(first) / step + 1;
        let tasks = array.count.map_or(Ok(count), needed)?;
        let before = index.wrapping_sub(first);
        match Shard::new(before.wrapping_div(step).wrapping_add(1), count) {
            Some(shard) if tasks == count && before.is_multiple_of(step) => Ok(shard),
            _ => Err(Error::usage(format!(
                "--shard auto: the {tasks} tasks of the job array are not all numbers from {first} to {last} in steps of \
                 {step}; number the tasks of N shards from 1 to N and use --shard auto/N"
            ))),
        }
    }
}

impl From<Shard> for ShardChoice {
    fn from(shard: Shard) -> Self {
        Self::This(shard)
    }
}

impl FromStr for ShardChoice {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let wrong = || shard_error(text);
        match text.strip_prefix("auto") {
            Some("") => Ok(Self::FromJob { count: None }),
            Some(count) => {
                let count = count.strip_prefix('/').and_then(|count| count.parse().ok());
                let count = count.filter(|&count| count > 0).ok_or_else(wrong)?;
                Ok(Self::FromJob { count: Some(count) })
            }
            None => text.parse().map(Self::This),
        }
    }
}

impl fmt::Display for ShardChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This(shard) => shard.fmt(f),
            Self::FromJob { count: None } => f.write_str("auto"),
            Self::FromJob { count: Some(count) } => write!(f, "auto/{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shard or the error, with variables as in `A=1 B=2`.
    fn resolved(choice: &str, variables: &str) -> String {
        let read = |name: &str| {
            let mut pairs = variables.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        match choice.parse::<ShardChoice>().unwrap().resolve_with(read) {
            Ok(shard) => shard.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[track_caller]
    fn assert_error(choice: &str, variables: &str, expected: &str) {
        let error = resolved(choice, variables);
        assert!(error.contains(expected), "{error}");
    }

    const TASK_3_OF_10: &str = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=10 \
                                SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=10";

    #[test]
    fn a_given_shard_takes_precedence_over_variables() {
        assert_eq!(resolved("2/5", TASK_3_OF_10), "2/5");
        assert_eq!(resolved("auto", &format!("KYOKUMEN_SHARD=4/7 {TASK_3_OF_10}")), "4/7");
        assert_error("auto", "KYOKUMEN_SHARD=8/7", "KYOKUMEN_SHARD: \"8/7\" is not a shard");
    }

    #[test]
    fn slurm() {
        assert_eq!(resolved("auto", TASK_3_OF_10), "3/10");
        let from_0 = "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 \
                      SLURM_ARRAY_TASK_STEP=4 SLURM_ARRAY_TASK_COUNT=3";
        assert_eq!(resolved("auto", from_0), "3/3");
        let some = "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 \
                    SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=2";
        assert_error("auto", some, "the 2 tasks of the job array are not all numbers from 3 to 7");
        assert_eq!(resolved("auto/10", some), "7/10");
        assert_eq!(resolved("auto", &format!("{some} KYOKUMEN_SHARDS=10")), "7/10");
        assert_error("auto/5", some, "SLURM_ARRAY_TASK_ID is 7; number the tasks from 1 to 5");
        assert_error("auto", "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN is not");
        assert_error("auto", "SLURM_ARRAY_TASK_ID=x", "SLURM_ARRAY_TASK_ID is \"x\"");
    }

    #[test]
    fn kubernetes() {
        assert_eq!(resolved("auto/10", "JOB_COMPLETION_INDEX=0"), "1/10");
        assert_eq!(resolved("auto", "JOB_COMPLETION_INDEX=9 KYOKUMEN_SHARDS=10"), "10/10");
        assert_error("auto", "JOB_COMPLETION_INDEX=9", "set KYOKUMEN_SHARDS");
        assert_error("auto/9", "JOB_COMPLETION_INDEX=9", "number the tasks from 0 to 8");
    }

    #[test]
    fn grid_engine() {
        let task = "SGE_TASK_ID=5 SGE_TASK_FIRST=1 SGE_TASK_LAST=9 SGE_TASK_STEPSIZE=2";
        assert_eq!(resolved("auto", task), "3/5");
        assert_error("auto", "SGE_TASK_ID=undefined", "no job variable is set");
        assert_error("auto", "SGE_TASK_ID=5 SGE_TASK_FIRST=1", "SGE_TASK_LAST is not");
    }

    #[test]
    fn pbs() {
        assert_eq!(resolved("auto/10", "PBS_ARRAY_INDEX=3"), "3/10");
        assert_error("auto", "PBS_ARRAY_INDEX=3", "use --shard auto/N");
        assert_error("auto/10", "PBS_ARRAY_INDEX=0", "number the tasks from 1 to 10");
    }

    #[test]
    fn choices_are_parsed_and_displayed() {
        for text in ["auto", "auto/10", "3/10"] {
            assert_eq!(text.parse::<ShardChoice>().unwrap().to_string(), text);
        }
        for text in ["auto/0", "auto/", "auto10", "automatic", ""] {
            assert!(text.parse::<ShardChoice>().is_err(), "{text}");
        }
        assert_error("auto", "", "no job variable is set");
    }
}
