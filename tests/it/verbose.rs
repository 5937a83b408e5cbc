//! Messages of `-v` and `-vv` on standard error.

use kyokumen::format::Format;
use kyokumen::shogi::sfen::START;

use crate::archive::archive;
use crate::harness::Dir;

#[test]
fn v_logs_decisions_and_vv_also_logs_blocks() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 100));
    let input = "a.hcp: read as hcp, shown by its name; 91 of 100 records in a sample can be read";
    let search = "search limits: 1 ply, 1048576 nodes, a table of 64 MiB per thread";
    let threads = "working with 2 threads";
    let filter = "filter a.hcp -o out --depth 1 --threads 2 --force --shard 2/2";
    let convert = "convert a.hcp -o b.sfen --threads 2 --force --on-error skip";
    let shuffle = "shuffle a.hcp -o c.hcp --threads 2 --force";
    let shard = "shard 2/2: 50 records of 100";
    for (words, decisions) in [
        (filter, &[input, search, threads, shard, "a.hcp: records from 50 to before 100"][..]),
        (convert, &[input, threads, "a.hcp: records from 0 to before 100"]),
        (shuffle, &[input, threads, "memory for records: 2G"]),
        ("stats a.hcp --threads 2", &[input, threads]),
        ("verify a.hcp --threads 2", &[input, threads]),
        ("solve a.hcp --depth 1 --threads 2", &["a.hcp: read as hcp", search, threads]),
        ("inspect a.hcp", &[input]),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let levels = ["", "-v", "-vv"].map(|level| {
            let level = Some(level).filter(|level| !level.is_empty());
            dir.kyokumen(words.iter().copied().chain(level)).exits(&[0, 3]).stderr
        });
        assert!(!levels[0].contains("INFO"), "{words:?}: {}", levels[0]);
        for decision in decisions.iter().chain(&["INFO kyokumen "]) {
            assert!(levels[1].contains(decision), "{words:?}, {decision}: {}", levels[1]);
            assert!(levels[2].contains(decision), "{words:?}, {decision}: {}", levels[2]);
        }
        assert!(!levels[1].contains("DEBUG"), "{words:?}: {}", levels[1]);
        if ["filter", "convert", "stats", "verify"].contains(&words[0]) {
            assert!(levels[2].contains("DEBUG block 1: "), "{words:?}: {}", levels[2]);
        }
    }
    let one = dir.kyokumen(["solve", START, "--depth", "1", "-vvv"]).exits(&[0, 3]).stderr;
    let search = "search limits: 1 ply, 4194304 nodes, a table of 64 MiB per thread";
    assert!(one.contains(search) && one.contains("TRACE "), "{one}");
}
