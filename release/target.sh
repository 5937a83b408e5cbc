# Sourced by release/make and release/wheels: reads their arguments and prepares the build for the target.
#
# Sets: python, host, target, sdist, out (the last argument, may be empty), build_std (options of cargo for a target whose
# standard library is built from source). The `+` in `${build_std[@]+…}` is for the bash of macOS, in which an empty array
# is an unset variable.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# On Windows `python3` may be a program that only opens a shop.
python=python3
"$python" --version >/dev/null 2>&1 || python=python
host=$(rustc -vV | sed -n 's/^host: //p')
target=$host
sdist=''
out=''
while [ $# -gt 0 ]; do
  case "$1" in
    --target) target=${2:?--target needs a value}; shift 2 ;;
    --sdist) sdist=yes; shift ;;
    -*) echo "error: unknown option $1" >&2; exit 2 ;;
    *) out=$1; shift ;;
  esac
done

# Everything made from one commit is the same bytes whenever it is made.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# The oldest macOS that runs the program.
export MACOSX_DEPLOYMENT_TARGET=11.0

build_std=()
if [ "$target" != "$host" ] && [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
  # Debian's packages rustc-web and rust-web-src contain a compiler and the source of its standard library, so no
  # toolchain is downloaded. Debian's gcc-mingw-w64-x86-64-posix or gcc-aarch64-linux-gnu links.
  if [ ! -x /usr/bin/rustc ] || [ ! -e /usr/lib/rustlib/src/rust/library ]; then
    echo "error: no standard library for $target. Run: rustup target add $target" >&2
    echo 'On Debian, you can install rustc-web, rust-web-src and libstd-rust-web-dev instead.' >&2
    exit 1
  fi
  export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1
  build_std=(-Zbuild-std=std,panic_unwind,proc_macro)
fi
