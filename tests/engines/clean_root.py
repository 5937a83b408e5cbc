#!/usr/bin/env python3
"""Tests the release files of `release/make` in a clean Debian root, without Rust and without further libraries.

The checksums are compared. The Debian package is installed, used and removed. The archive is unpacked and used. The
wheel, if one was built, is installed by pip for the Python of the root. All outputs must equal the outputs of the
archive's program outside the root. debootstrap creates the root from the mirror of this machine; its Debian package is
installed if it is missing, which needs root. If the machine allows no devices or no `chroot`, as in some containers,
the script prints this and tests only the checksums and the archive.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

    release/make && python3 tests/engines/clean_root.py
"""

import os
import pathlib
import shutil
import stat
import sys
import tarfile
import tempfile

from programs import ROOT, Missing, Wrong, call, install, try_out

FILES = ROOT / "target/release-files"
WHEELS = ROOT / "target/wheels"
SUITE = "bookworm"
# The version in that suite of Debian.
PYTHON = "3.11"
SEARCH = ["--nodes", "500", "--progress", "none"]

# Commands of the README on the bundled sample, with the names of their outputs.
COMMANDS = [
    (["filter", "sample.hcp", "-o", "clean", *SEARCH], ["clean/sample.hcp", "clean/sample.hcp.mated"]),
    (["convert", "clean/sample.hcp", "-o", "sample.sfen.zst"], ["sample.sfen.zst"]),
    (["dataset", "sample.hcp", "-o", "solved", "--to", "parquet", *SEARCH], ["solved/sample.parquet"]),
    (["shuffle", "sample.hcp", "-o", "shuffled.hcp", "--seed", "1"], ["shuffled.hcp"]),
]


def one_of(pattern):
    found = sorted(FILES.glob(pattern))
    if len(found) != 1:
        raise Missing(f"{pattern}: {len(found)} files in {FILES}; release/make creates one")
    return found[0]


def written(folder, *program):
    """Runs the commands in the folder and returns their outputs."""
    work = folder / "try"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(ROOT / "data/sample.hcp", work)
    for arguments, _ in COMMANDS:
        call(*program, *arguments, cwd=work)
    return {name: (work / name).read_bytes() for _, names in COMMANDS for name in names}


def allows_roots(folder):
    """Whether this machine allows devices in a folder and `chroot`."""
    device = folder / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"x")
        device.unlink()
        call("chroot", "/", "true")
    except (OSError, Wrong) as error:
        print(f"this machine allows no separate root: {error}")
        return False
    return True


def in_root(root, *command):
    return call("chroot", root, *command)


def compare(release_file, root, program, expected):
    # `chroot` starts in the root folder of the new root.
    shell = ["chroot", str(root), "sh", "-c", 'cd /try && exec "$@"', "sh", program]
    found = written(root, *shell)
    for name, content in expected.items():
        if found[name] != content:
            raise Wrong(f"{release_file}: {name} differs from the output outside the root")
    print(f"{release_file}: {len(expected)} outputs equal those outside the root")


def try_package(package, root, expected):
    shutil.copy(package, root / "package.deb")
    in_root(root, "dpkg", "--install", "/package.deb")
    compare("package", root, "kyokumen", expected)
    for program in ("kyokumen", "gen-filter", "kyokumen-usi"):
        output = in_root(root, program, "--version").strip()
        pages = in_root(root, "sh", "-c", f"ls /usr/share/man/man1/{program}.1*").strip()
        print(f"package: {output}; {pages}")
    listed = in_root(root, "dpkg", "--listfiles", "kyokumen").splitlines()
    for folder in ("bash-completion/completions", "zsh/vendor-completions", "fish/vendor_completions.d"):
        if not any(f"/usr/share/{folder}/" in file for file in listed):
            raise Wrong(f"no completions in /usr/share/{folder}")
    in_root(root, "dpkg", "--purge", "kyokumen")
    left = [file for file in listed if "kyokumen" in file and (root / file[1:]).exists()]
    if left:
        raise Wrong(f"files left by the package: {left}")
    print("package: removed, and nothing is left")


def try_wheel(wheel, root, expected):
    packages = root / "wheels"
    only = ["--only-binary=:all:", "--python-version", PYTHON]
    call(sys.executable, "-m", "pip", "download", "--quiet", *only, "--dest", packages, wheel)
    in_root(root, "python3", "-m", "venv", "/venv")
    found = ["--no-index", "--find-links", "/wheels"]
    in_root(root, "/venv/bin/pip", "install", "--quiet", *found, "kyokumen")
    work = root / "try"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(ROOT / "data/sample.hcp", work)
    lines = f"""
import kyokumen
kyokumen.gen_filter("/try/sample.hcp", "/try/clean", nodes={SEARCH[1]})
kyokumen.convert("/try/clean/sample.hcp", "/try/sample.sfen.zst")
print(len(kyokumen.open("/try/clean/sample.hcp").numpy()), "records kept")
"""
    output = in_root(root, "/venv/bin/python", "-c", lines).strip()
    for name in ("clean/sample.hcp", "clean/sample.hcp.mated", "sample.sfen.zst"):
        if (work / name).read_bytes() != expected[name]:
            raise Wrong(f"wheel: {name} differs from the output outside the root")
    print(f"wheel: {output}, outputs equal those outside the root")


def unpacked(archive, folder):
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.name.startswith("kyokumen-"))


def check(_):
    package, archive = one_of("*.deb"), one_of("*.tar.gz")
    call("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=FILES)
    print("the checksums are correct")
    mirror = call("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").splitlines()[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        here = unpacked(archive, folder)
        expected = written(folder, here / "kyokumen")
        print(f"archive: {len(expected)} outputs written here")
        if not allows_roots(folder):
            return
        install(["debootstrap"], ["debootstrap"])
        root = folder / "root"
        wheels = sorted(WHEELS.glob("*.whl"))
        # The program needs nothing from the root, the wheel needs Python.
        more = ["--include=python3-venv"] if wheels else []
        call("debootstrap", "--variant=minbase", *more, SUITE, root, mirror)
        try_package(package, root, expected)
        (root / "opt").mkdir(exist_ok=True)
        there = unpacked(archive, root / "opt")
        compare("archive", root, f"/opt/{there.name}/kyokumen", expected)
        output = in_root(root, f"/opt/{there.name}/gen-filter", "--version").strip()
        print(f"archive: {output}")
        for wheel in wheels:
            try_wheel(wheel, root, expected)
        if not wheels:
            print("wheel: none was built")


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
