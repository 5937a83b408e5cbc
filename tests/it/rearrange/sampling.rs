//! Samples: their size, their order, and that every record has the same chance.

use std::collections::{BTreeMap, BTreeSet};

use kyokumen::format::Format;
use tempfile::TempDir;

use super::{SHAPES, file, good, in_units, is_even, made, succeeds};
use crate::archive::write;

#[test]
fn a_sample_has_its_size_and_keeps_the_order() {
    for extension in SHAPES {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let input = made(folder, extension);
        let format = Format::from_extension(extension).unwrap();
        let whole = in_units(format, &file(folder, &input));
        let mut samples = BTreeSet::new();
        for (seed, count) in (0..).zip([0, 1, 2, whole.len() / 2, whole.len(), whole.len() + 9]) {
            for memory in ["1G", "100"] {
                let (output, seed) = (format!("b.{extension}"), seed.to_string());
                let count = count.to_string();
                let words = ["sample", &input, "-o", &output, "--count", &count, "--seed", &seed];
                succeeds(folder, &[&words[..], &["--memory", memory, "--force"]].concat());
                samples.insert((count, in_units(format, &file(folder, &output))));
            }
        }
        assert_eq!(samples.len(), 6, "{extension}: memory changes nothing");
        for (count, sample) in samples {
            let count: usize = count.parse().unwrap();
            assert_eq!(sample.len(), count.min(whole.len()), "{extension}");
            let mut rest = whole.iter();
            assert!(sample.iter().all(|unit| rest.any(|other| other == unit)), "{extension}");
        }
    }
}

#[test]
fn a_rate_takes_what_convert_takes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "a.psv", &good(Format::Psv, 1000));
    succeeds(folder, &["sample", "a.psv", "-o", "b.psv", "--rate", "0.3", "--seed", "5"]);
    succeeds(folder, &["convert", "a.psv", "-o", "c.psv", "--sample", "0.3", "--seed", "5"]);
    let sample = file(folder, "b.psv");
    assert!(sample == file(folder, "c.psv"));
    assert!((250..350).contains(&(sample.len() / 40)));
}

/// The ten sets of two of five records.
#[test]
fn samples_are_fair() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "a.hcp", &good(Format::Hcp, 5));
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        let seed = seed.to_string();
        let words = ["sample", "a.hcp", "-o", "b.hcp", "--count", "2", "--seed", &seed, "--force"];
        succeeds(folder, &[&words[..], &["--threads", "1"]].concat());
        *counts.entry(file(folder, "b.hcp")).or_insert(0_u32) += 1;
    }
    assert!(is_even(&counts, 10), "{counts:?}");
}
