"""What the scripts of this folder have in common: finding, installing and calling programs, and how they end."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = ("gen-filter", "kyokumen")

# Variables that say to gen-filter or to a job system's programs what this test is to say.
FOREIGN = ("KYOKUMEN_", "SLURM", "SBATCH_", "SCANCEL_", "SINFO_", "SQUEUE_", "JOB_COMPLETION_", "PARALLEL")


class Missing(Exception):
    """Something without which nothing can be tried."""


class Wrong(Exception):
    """Something is not as it should be."""


def try_out(description, check):
    """Calls `check` with the folder of our programs and returns the exit status: 0 all right, 1 something is wrong,
    2 something is missing."""
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "target/release")
    folder = parser.parse_args().bin.resolve()
    try:
        for name in OWN:
            if not (folder / name).is_file():
                raise Missing(f"{folder / name} is missing; cargo build --release makes it")
        check(folder)
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    except Wrong as wrong:
        print(f"WRONG       {wrong}")
        return 1
    print("all right")
    return 0


def environment(folder, **variables):
    """The variables of this process without those that would mean something here, and our programs on the path."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return ours | {"PATH": f"{folder}:{ours['PATH']}"} | variables


def install(packages, programs):
    """Sees to it that these programs of Debian packages are there."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise Missing(f"{', '.join(missing)} not found; root can install them: {' '.join(command)}")
    print(f"installing  {' '.join(packages)}")
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update"], command):
        done = subprocess.run(step, env=quiet, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{' '.join(step)} failed:\n{done.stdout}{done.stderr}")


def call(*command, statuses=(0,), **options):
    """Standard output of a command."""
    command = [str(argument) for argument in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode not in statuses:
        said = f"{done.stdout}{done.stderr}".strip()
        raise Wrong(f"exit status {done.returncode} of {' '.join(command)}: {said}")
    return done.stdout


def generate(path, positions, env, seed=1, bad_record=None):
    """A file of positions of random games, one of which may be none."""
    command = ["kyokumen", "generate", "--count", positions, "--every", 7, "--seed", seed, "-o", path]
    call(*command, env=env)
    if bad_record is not None:
        with open(path, "r+b") as file:
            file.seek(32 * bad_record)
            file.write(b"\xff" * 32)
