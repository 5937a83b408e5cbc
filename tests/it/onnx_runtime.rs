//! Libraries that cannot be used as ONNX Runtime end a run with an error.
#![cfg(all(unix, feature = "onnxruntime"))]

use std::process::Command;

use snapbox::{assert_data_eq, str};

use crate::children::{finished, spawned};
use crate::harness::Dir;
use crate::messages::transcript_of;

/// The function with which ONNX Runtime states its version and gives its other functions, of which this has none.
const SOURCE: &str = "
static const void *api(unsigned int version) { return 0; }
static const char *version(void) { return \"VERSION\"; }
static const struct { const void *(*api)(unsigned int); const char *(*version)(void); } base = { api, version };
const void *OrtGetApiBase(void) { return &base; }";

#[test]
fn libraries_that_are_old_or_no_onnx_runtime_are_refused() {
    let dir = Dir::new();
    dir.write("text.so", "no library");
    for (name, source) in
        [("old", SOURCE.replace("VERSION", "1.10.0")), ("empty", "int nothing;".to_owned())]
    {
        dir.write("source.c", source);
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o", &format!("{name}.so"), "source.c"]);
        match compiler.current_dir(dir.path()).status() {
            Ok(status) => assert!(status.success()),
            Err(error) => return eprintln!("skipped: there is no C compiler: {error}"),
        }
    }
    let model = concat!("--model=", env!("CARGO_MANIFEST_DIR"), "/data/network.onnx");
    let refusal = |name: &str| {
        let library = dir.join(name);
        let words = ["selfplay", "-o", "out", "--games=1", "--progress=none", model, "--ort-lib"];
        let output = finished(spawned(dir.kyokumen(words).args([library])));
        assert!(!dir.join("out").exists());
        transcript_of(dir.path(), &output)
    };
    let refusals = ["old.so", "empty.so", "text.so", "absent.so"].map(refusal);
    assert_data_eq!(
        refusals.concat(),
        str![[r#"
status 1
error: cannot load ONNX Runtime from [FOLDER]/old.so: ort 2.0.0-rc.15 is not compatible with the ONNX Runtime binary found at `[FOLDER]/old.so`; expected version >= '1.22.x', but got '1.10.0'
status 1
error: cannot load ONNX Runtime from [FOLDER]/empty.so: [FOLDER]/empty.so does not export `OrtGetApiBase`
status 1
error: cannot load ONNX Runtime from [FOLDER]/text.so: failed to load from `[FOLDER]/text.so`: [..]
status 1
error: cannot load ONNX Runtime from [FOLDER]/absent.so: No such file or directory (os error 2); check the path: relative paths start in [FOLDER]

"#]]
    );
}
