"""Common code of the scripts in this folder: finding, installing and calling programs, and exit statuses."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN = ("gen-filter", "kyokumen")

# Variables that would change the settings of gen-filter or of the programs of a job system.
FOREIGN = ("KYOKUMEN_", "SLURM", "SBATCH_", "SCANCEL_", "SINFO_", "SQUEUE_", "JOB_COMPLETION_", "PARALLEL")


class Missing(Exception):
    """Something that the test needs is missing."""


class Wrong(Exception):
    """The test has failed."""


def try_out(description, check):
    """Calls `check` with the folder of Kyokumen's programs. Returns the exit status."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "target/release")
    folder = parser.parse_args().bin.resolve()

    def check_programs():
        for name in OWN:
            if not (folder / name).is_file():
                raise Missing(f"{folder / name} is missing; build it with cargo build --release")
        check(folder)

    return exit_status(check_programs)


def exit_status(check):
    """Calls `check`. Returns the exit status: 0 all correct, 1 something is wrong, 2 something is missing."""
    sys.stdout.reconfigure(line_buffering=True)
    try:
        check()
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    except Wrong as wrong:
        print(f"WRONG       {wrong}")
        return 1
    print("all correct")
    return 0


def environment(folder, **variables):
    """The environment of this process without `FOREIGN` variables, with Kyokumen's programs on the path."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return ours | {"PATH": f"{folder}:{ours['PATH']}"} | variables


def install(packages, programs):
    """Installs these programs from Debian packages if they are missing."""
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
    """Runs a command and returns its standard output."""
    command = [str(argument) for argument in command]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode not in statuses:
        output = f"{done.stdout}{done.stderr}".strip()
        raise Wrong(f"exit status {done.returncode} of {' '.join(command)}: {output}")
    return done.stdout


def generate(path, positions, env, seed=1, bad_record=None):
    """Writes a file with positions of random games. Record number `bad_record` is made bad."""
    command = ["kyokumen", "generate", "--count", positions, "--every", 7, "--seed", seed, "-o", path]
    call(*command, env=env)
    if bad_record is not None:
        with open(path, "r+b") as file:
            file.seek(32 * bad_record)
            file.write(b"\xff" * 32)
