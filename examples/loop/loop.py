#!/usr/bin/env python3
"""Trains networks without external data: a network plays games, the games train the next network, and so on.

    python3 -m venv venv && venv/bin/pip install -r examples/loop/requirements.txt
    cargo build --release --features network
    venv/bin/python examples/loop/loop.py loop

Each generation starts its games from positions of the previous games; the first generation uses positions of random
play. `kyokumen filter` removes mated positions from them, where the side to move can force mate or is being mated by
force. With `--both`, a second line of networks keeps these positions. At the end, the last network of each line plays
against the first one, and the last networks play against each other.
"""

import argparse
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# About one in this many games is held out to measure the network on games that were not used for training.
HELD_OUT_OF = 20


def run(*command, status=(0,)):
    command = [str(argument) for argument in command]
    print("+", " ".join(command), flush=True)
    done = subprocess.run(command)
    if done.returncode not in status:
        sys.exit(f"{command[0]} failed with exit status {done.returncode}")


class Line:
    """A line of networks. Each generation learns from the games of the previous one."""

    def __init__(self, options, name, is_filtered):
        self.options = options
        self.folder = options.folder / name
        self.is_filtered = is_filtered
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / name

    def network(self, generation):
        return self.path(f"{generation}.onnx")

    def make(self, target, *command):
        """Runs a command unless its target exists, so that an interrupted loop can be resumed."""
        if not target.exists():
            run(*command)
        return target

    def train(self, generation, old, games=(), held_out=()):
        arguments = ["--to", self.path(f"{generation}.npz"), "--onnx", self.network(generation)]
        if old is not None:
            arguments += ["--from", self.path(f"{old}.npz")]
        arguments += [*games, "--held-out", *held_out]
        self.make(self.network(generation), sys.executable, HERE / "train.py", *arguments)

    def kyokumen(self, target, command, *arguments):
        return self.make(target, self.options.kyokumen, command, *arguments)

    def openings(self, generation):
        """Makes the start positions of the games of a generation."""
        seed = self.options.seed + generation
        count = ["--count", self.options.games * 2, "--seed", seed]
        sample = self.path(f"some{generation}.hcp")
        if generation == 0:
            self.kyokumen(sample, "generate", *count, "--every", 5, "--max-moves", 60, "-o", sample)
        else:
            every = self.path(f"every{generation}.hcp")
            self.kyokumen(every, "convert", self.games(generation - 1), "-o", every, "--keep-untrained")
            self.kyokumen(sample, "sample", every, *count, "-o", sample)
        shuffled = self.path(f"mixed{generation}.hcp")
        self.kyokumen(shuffled, "shuffle", sample, "-o", shuffled, "--seed", seed)
        if not self.is_filtered:
            return shuffled
        kept = self.path(f"clean{generation}")
        return self.kyokumen(kept / shuffled.name, "filter", shuffled, "-o", kept, "--progress", "none")

    def games(self, generation):
        return self.path(f"games{generation}") / "selfplay.hcpe3"

    def play(self, generation):
        options = self.options
        arguments = ["--model", self.network(generation), "--openings", self.openings(generation)]
        arguments += ["-o", self.games(generation).parent, "--games", options.games, "--resume"]
        arguments += ["--playouts", options.playouts, "--seed", options.seed, "--progress", "plain"]
        arguments += ["--batch", 64, "--max-moves", 200, "--root-mate", "33,2000"]
        self.kyokumen(self.games(generation), "selfplay", *arguments)

    def divided(self, generation):
        """Divides the games of a generation into training games and held-out games. Equal games stay together. Adds
        mirror images of the training games only, so that no held-out game has a mirror image among the training
        games."""
        parts = self.path(f"parts{generation}")
        arguments = ["-o", parts, "--by", "game", "--weights", f"{HELD_OUT_OF - 1},1"]
        arguments += ["--names", "train,held-out", "--name", "games"]
        self.kyokumen(parts / "games.manifest.json", "split", self.games(generation), *arguments)
        training, held_out = parts / "games-train.hcpe3", parts / "games-held-out.hcpe3"
        mirrored = self.path(f"mirrored{generation}.hcpe3")
        self.kyokumen(mirrored, "convert", training, "-o", mirrored, "--mirror", "--keep-untrained")
        return [training, mirrored], held_out

    def advance(self, generation):
        """Plays the games of a generation. Trains the next network with these and the previous games."""
        self.play(generation)
        divided = [self.divided(number) for number in range(max(generation - 1, 0), generation + 1)]
        games = [file for training, _ in divided for file in training]
        self.train(generation + 1, generation, games, [held_out for _, held_out in divided])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--games", type=int, default=2000, help="games per generation")
    parser.add_argument("--playouts", type=int, default=64)
    parser.add_argument("--match", type=int, default=200, help="games of each match at the end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--both", action="store_true", help="also train a line of networks with mated openings")
    parser.add_argument("--kyokumen", type=pathlib.Path, default="target/release/kyokumen")
    options = parser.parse_args()
    options.kyokumen = options.kyokumen.resolve()
    started = time.monotonic()
    lines = [Line(options, "filtered", True)]
    if options.both:
        lines.append(Line(options, "unfiltered", False))
    for line in lines:
        line.train(0, None)
        for generation in range(options.generations):
            line.advance(generation)
    print(f"{options.generations} generations in {(time.monotonic() - started) / 60:.0f} minutes")
    openings = options.folder / "match.sfen"
    arguments = ["--every", 20, "--max-moves", 24, "--count", options.match, "--seed", 99]
    if not openings.exists():
        run(options.kyokumen, "generate", *arguments, "-o", openings)
    last = options.generations
    pairs = [(line.network(last), line.network(0)) for line in lines]
    if options.both:
        pairs.append((lines[0].network(last), lines[1].network(last)))
    for first, second in pairs:
        arguments = ["--openings", openings, "--games", options.match, "--kyokumen", options.kyokumen]
        run(sys.executable, HERE / "match.py", first, second, *arguments, status=(0, 1))


if __name__ == "__main__":
    main()
