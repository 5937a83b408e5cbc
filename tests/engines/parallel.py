#!/usr/bin/env python3
"""Runs the commands in `configs/parallel.md` unchanged, each a second time when nothing is left to do.

Their outputs must equal a run without shards byte for byte. The Debian package `parallel` is installed if it is
missing, which needs root. This machine plays all machines of the page: a script in place of `ssh` runs the commands
here, in another folder, like `ssh`.

Exit status 0: all correct, 1: something is wrong, 2: something is missing.

    cargo build --release && python3 tests/engines/parallel.py
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from programs import ROOT, Wrong, call, environment, generate, install, try_out

PAGE = ROOT / "configs/parallel.md"
POSITIONS = 100
GAMES = {"a": 40, "b 1": 20, "c": 30}
MACHINES = ["alpha", "beta"]

SSH = """\
#!/bin/sh
# [OPTION]... HOST [--] COMMAND...; SHELL is set, as sshd sets it.
until [ "$1" = alpha ] || [ "$1" = beta ]; do shift; done
echo "$1" >> "$HOME/called"
shift
if [ "$1" = -- ]; then shift; fi
cd / && SHELL=/bin/sh exec sh -c "$*"
"""


def check(folder):
    install(["parallel"], ["parallel"])
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory(prefix="kyokumen-parallel-") as temporary:
        Commands(pathlib.Path(temporary), folder).check(blocks)


class Commands:
    def __init__(self, folder, programs):
        self.home = folder / "home"
        self.work = folder / "work"
        (self.home / "bin").mkdir(parents=True)
        ssh = self.home / "bin/ssh"
        ssh.write_text(SSH)
        ssh.chmod(0o755)
        # GNU parallel stores its settings in the home folder.
        self.env = environment(f"{self.home / 'bin'}:{programs}", HOME=str(self.home))
        self.make_inputs()

    def make_inputs(self):
        (self.work / "games").mkdir(parents=True)
        generate(self.work / "positions.hcp", POSITIONS, self.env)
        for seed, (name, positions) in enumerate(GAMES.items(), 2):
            generate(self.work / f"games/{name}.hcp", positions, self.env, seed)
        (self.work / "machines").write_text("".join(f"{machine}\n" for machine in MACHINES))
        self.positions = self.local_run("positions.hcp")
        self.games = {name: self.local_run(f"games/{name}.hcp") for name in GAMES}

    def local_run(self, path):
        local = self.home / "local"
        call("gen-filter", path, "-o", local, "--progress", "none", env=self.env, cwd=self.work)
        return (local / pathlib.Path(path).name).read_bytes()

    def check(self, blocks):
        of_games = [block for block in blocks if "games/" in block]
        sharded = [block for block in blocks if "--shard" in block]
        if len(of_games) < 2 or len(sharded) < 3 or len(of_games) + len(sharded) != len(blocks):
            raise Wrong(f"{len(of_games)} commands for many files and {len(sharded)} with shards in {PAGE.name}")
        for block in of_games:
            self.try_twice(block, self.judge_games)
        for block in sharded:
            self.try_twice(block, self.judge_shards)
            self.clear()
            if self.run(block.replace("seq 10", "seq 9")).returncode == 0:
                raise Wrong(f"a missing shard is not reported by {block}")
        self.judge_machines()

    def try_twice(self, block, judge):
        self.clear()
        for _ in range(2):
            self.clear_joined()
            done = self.run(block)
            if done.returncode != 0:
                raise Wrong(f"exit status {done.returncode} of {block}{done.stdout}{done.stderr}")
            judge()
        print(f"equal       {command_line(block)}")

    def clear(self):
        """Removes the outputs of the commands."""
        shutil.rmtree(self.work / "clean", ignore_errors=True)
        self.clear_joined()

    def clear_joined(self):
        """Removes the files that merge does not replace."""
        for path in self.work.glob("clean.hcp*"):
            path.unlink()

    def run(self, block):
        command = ["bash", "-euo", "pipefail", "-c", block]
        return subprocess.run(command, cwd=self.work, env=self.env, capture_output=True, text=True, check=False)

    def judge_games(self):
        for name, content in self.games.items():
            if (self.work / f"clean/{name}.hcp").read_bytes() != content:
                raise Wrong(f"{name}.hcp differs from a separate run")

    def judge_shards(self):
        if (self.work / "clean.hcp").read_bytes() != self.positions:
            raise Wrong("the joined shards differ from a run without shards")

    def judge_machines(self):
        calls = self.home / "called"
        called = set(calls.read_text().split()) if calls.exists() else set()
        if called != set(MACHINES):
            raise Wrong(f"the machines {called} were called, not {MACHINES}")


def command_line(block):
    return next(line for line in block.splitlines() if "xargs" in line or "parallel" in line)


if __name__ == "__main__":
    sys.exit(try_out(__doc__, check))
