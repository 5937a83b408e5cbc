#!/usr/bin/env python3
"""What `release/make` needs and not every system has: archives that are the same bytes whenever they are made, and
checksums.

    python3 release/pack.py archive FOLDER FILE.tar.gz|FILE.zip
    python3 release/pack.py checksums FOLDER
    python3 release/pack.py aliases
    python3 release/pack.py try FOLDER

`archive` packs FOLDER, whose name is the first part of all names in the archive. Times are SOURCE_DATE_EPOCH, owners are
0, modes are 755 for programs and folders and 644 for other files. A zip file has copies instead of links. `checksums`
writes FOLDER/SHA256SUMS and prints it. `aliases` prints the other names under which the program can be called. `try`
unpacks the archive in FOLDER and runs the program under each of its names.
"""

import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
# The first moment that a zip file can hold.
ZIP_EPOCH = 315532800


def is_program(path, folder):
    """Programs are in the first level and have no ending, like LICENSE-MIT, or `.exe`. Windows has no mode for this."""
    named = path.suffix == ".exe" or (path.suffix == "" and not path.name.isupper())
    return path.is_file() and path.parent == folder and named


def files(folder):
    """The folder and everything in it, sorted by name, with the names in the archive."""
    paths = sorted([folder, *folder.rglob("*")], key=lambda path: path.relative_to(folder).as_posix())
    return [(path, path.relative_to(folder.parent).as_posix()) for path in paths]


def write_tar(folder, target):
    with (
        target.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path, name in files(folder):
            entry = archive.gettarinfo(path, name)
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = EPOCH
            is_open = entry.isdir() or is_program(path, folder)
            entry.mode = 0o777 if entry.issym() else 0o755 if is_open else 0o644
            if entry.isreg():
                with path.open("rb") as content:
                    archive.addfile(entry, content)
            else:
                archive.addfile(entry)


def write_zip(folder, target):
    moment = time.gmtime(max(EPOCH, ZIP_EPOCH))[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, name in files(folder):
            if path.is_dir():
                continue
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # As written on Unix, whatever this system is, so that the bytes do not depend on it.
            entry.create_system = 3
            entry.external_attr = (0o100755 if is_program(path, folder) else 0o100644) << 16
            archive.writestr(entry, path.read_bytes())


def pack(folder, target):
    partial = target.with_name(f"{target.name}.partial")
    write = {".gz": write_tar, ".zip": write_zip}[target.suffix]
    write(folder, partial)
    partial.replace(target)


def checksums(folder):
    lines = ""
    for path in sorted(folder.iterdir()):
        if path.name != "SHA256SUMS":
            lines += f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
    (folder / "SHA256SUMS").write_text(lines, encoding="utf-8", newline="\n")
    print(lines, end="")


def aliases():
    """The names of the package's programs other than `kyokumen`, all of which `src/main.rs` knows."""
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    package = next(package for package in metadata["packages"] if package["name"] == "kyokumen")
    names = [target["name"] for target in package["targets"] if "bin" in target["kind"]]
    print(*sorted(name for name in names if name != "kyokumen"), sep="\n")


def unpack_and_run(folder):
    archives = [path for path in sorted(folder.iterdir()) if path.name.endswith((".tar.gz", ".zip"))]
    archive = next(path for path in archives if not path.name.endswith("-site.zip"))
    with tempfile.TemporaryDirectory() as place:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(place)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(place, filter="data")
        root = next(pathlib.Path(place).iterdir())
        programs = sorted(path for path in root.iterdir() if is_program(path, root))
        for program in programs:
            if program.stem == "kyokumen-usi":
                command, text = [program], "usi\nquit\n"
            else:
                command, text = [program, "--version"], ""
            done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
            print(f"{program.name}: {done.stdout.splitlines()[0]}")
        if "kyokumen" not in [program.stem for program in programs]:
            sys.exit(f"{archive} does not contain kyokumen")


def main():
    match sys.argv[1:]:
        case ["archive", folder, target]:
            pack(pathlib.Path(folder), pathlib.Path(target))
        case ["checksums", folder]:
            checksums(pathlib.Path(folder))
        case ["aliases"]:
            aliases()
        case ["try", folder]:
            unpack_and_run(pathlib.Path(folder))
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main()
