//! Samples: their size, their order, and an equal probability for every record.

use std::collections::BTreeSet;

use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::ops::rearrange::{SampleSize, sample};

use super::{NEVER, SHAPES, are_equally_likely, file, good, in_chunks, outcomes, write_input};
use crate::harness::Dir;

#[test]
fn a_sample_has_its_size_and_keeps_the_order() {
    for extension in SHAPES {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let format = Format::from_extension(extension).unwrap();
        let whole = in_chunks(format, &file(&dir, &input));
        let mut samples = BTreeSet::new();
        for (seed, count) in (0..).zip([0, 1, 2, whole.len() / 2, whole.len(), whole.len() + 9]) {
            for memory in ["1G", "100"] {
                let (output, seed) = (format!("b.{extension}"), seed.to_string());
                let count = count.to_string();
                let words = ["sample", &input, "-o", &output, "--count", &count, "--seed", &seed];
                dir.kyokumen([&words[..], &["--memory", memory, "--force"]].concat()).succeeds();
                samples.insert((count, in_chunks(format, &file(&dir, &output))));
            }
        }
        assert_eq!(samples.len(), 6, "{extension}: the sample does not depend on memory");
        for (count, sample) in samples {
            let count: usize = count.parse().unwrap();
            assert_eq!(sample.len(), count.min(whole.len()), "{extension}");
            let mut rest = whole.iter();
            assert!(sample.iter().all(|chunk| rest.any(|other| other == chunk)), "{extension}");
        }
    }
}

#[test]
fn a_rate_takes_the_same_records_as_convert() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 1000));
    dir.kyokumen(["sample", "a.psv", "-o", "b.psv", "--rate", "0.3", "--seed", "5"]).succeeds();
    dir.kyokumen(["convert", "a.psv", "-o", "c.psv", "--sample", "0.3", "--seed", "5"]).succeeds();
    let sample = file(&dir, "b.psv");
    assert!(sample == file(&dir, "c.psv"));
    assert!((250..350).contains(&(sample.len() / 40)));
}

/// There are ten ways to choose two of five records.
#[test]
fn samples_have_equal_probabilities() {
    let dir = Dir::new();
    dir.write("a.hcp", good(Format::Hcp, 5));
    let counts = outcomes(&dir, &["a.hcp"], |plan, seed| {
        sample(plan, SampleSize::Count(2), seed, &mut Progress::none(), &NEVER)
    });
    assert!(are_equally_likely(&counts, 10), "{counts:?}");
}
