//! Inputs whose names say another format than their content.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use tempfile::TempDir;

use crate::archive::write;

fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(cargo_bin("kyokumen")).args(words).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn sample(format: Format) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    fs::read(folder.join(format!("sample.{format}"))).unwrap()
}

/// Whether records of one format cannot be told from those of the other.
fn are_alike(one: Format, other: Format) -> bool {
    one == other || [one, other].iter().all(|it| matches!(it, Format::Hcpe | Format::Hcpe2))
}

#[test]
fn every_pair_of_name_and_content_is_refused_with_the_format_of_the_content() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut wrong = String::new();
    for content in Format::ALL {
        for named in Format::ALL.into_iter().filter(|&named| !are_alike(named, content)) {
            // Apery's records are read under the name of the others, and games under the name of positions.
            let exceptions = [(Format::Hcpe42, Format::Hcpe), (Format::Usi, Format::Sfen)];
            if exceptions.contains(&(content, named)) {
                continue;
            }
            let name = format!("a.{named}");
            write(folder, &name, &sample(content));
            let (code, out, err) = run(folder, &["convert", &name, "-o", "out.sfen"]);
            let expected = format!("error: {name}: the content is {content} (");
            if (code, out.as_str()) != (Some(2), "")
                || !err.contains(&expected)
                || folder.join("out.sfen").exists()
            {
                wrong += &format!("{content} named {named}: {code:?} {err}");
            }
            drop(fs::remove_file(folder.join("out.sfen")));
        }
    }
    assert_eq!(wrong, "");
}
