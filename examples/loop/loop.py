#!/usr/bin/env python3
"""Networks from nothing: games, training, the next network, and again; with the openings filtered or not.

    python3 -m venv venv && venv/bin/pip install -r examples/loop/requirements.txt
    cargo build --release --features network
    venv/bin/python examples/loop/loop.py loop

Each generation plays games from positions of the games before (the first from positions of random play), out of which
`gen-filter` has taken those that are decided by a mate; in a second line of networks, with `--both`, they stay in. At the end
the last networks play the first one, and each other.
"""

import argparse
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent

# One of so many games is held out, to measure the network on games that it has not learnt.
HELD_OUT_OF = 20


def run(*words, status=(0,)):
    words = [str(word) for word in words]
    print("+", " ".join(words), flush=True)
    done = subprocess.run(words)
    if done.returncode not in status:
        sys.exit(f"{words[0]} ended with {done.returncode}")


class Line:
    """A line of networks: each generation learns from the games of the one before."""

    def __init__(self, options, name, is_filtered):
        self.options = options
        self.folder = options.folder / name
        self.is_filtered = is_filtered
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / name

    def network(self, generation):
        return self.path(f"{generation}.onnx")

    def make(self, target, *words):
        """Runs a command unless what it makes is there: a loop that was interrupted goes on."""
        if not target.exists():
            run(*words)
        return target

    def train(self, generation, old, games=(), held_out=()):
        words = ["--to", self.path(f"{generation}.npz"), "--onnx", self.network(generation)]
        if old is not None:
            words += ["--from", self.path(f"{old}.npz")]
        words += [*games, "--held-out", *held_out]
        self.make(self.network(generation), sys.executable, HERE / "train.py", *words)

    def kyokumen(self, target, command, *words):
        return self.make(target, self.options.kyokumen, command, *words)

    def openings(self, generation):
        """Positions in which the games of a generation begin."""
        seed = self.options.seed + generation
        count = ["--count", self.options.games * 2, "--seed", seed]
        some = self.path(f"some{generation}.hcp")
        if generation == 0:
            self.kyokumen(some, "generate", *count, "--every", 5, "--max-moves", 60, "-o", some)
        else:
            every = self.path(f"every{generation}.hcp")
            words = [self.games(generation - 1), "-o", every, "--keep-untrained"]
            self.kyokumen(every, "convert", *words)
            self.kyokumen(some, "sample", every, *count, "-o", some)
        mixed = self.path(f"mixed{generation}.hcp")
        self.kyokumen(mixed, "shuffle", some, "-o", mixed, "--seed", seed)
        if not self.is_filtered:
            return mixed
        clean = self.path(f"clean{generation}")
        return self.kyokumen(clean / mixed.name, "filter", mixed, "-o", clean, "--progress", "none")

    def games(self, generation):
        return self.path(f"games{generation}") / "selfplay.hcpe3"

    def play(self, generation):
        options = self.options
        words = ["--model", self.network(generation), "--openings", self.openings(generation)]
        words += ["-o", self.games(generation).parent, "--games", options.games, "--resume"]
        words += ["--playouts", options.playouts, "--seed", options.seed, "--progress", "plain"]
        words += ["--batch", 64, "--max-moves", 200, "--root-mate", "33,2000"]
        self.kyokumen(self.games(generation), "selfplay", *words)

    def divided(self, generation):
        """A generation's games to learn from, with their mirror images, and those held out: whole games, and none of them
        mirrored into the others."""
        parts = self.path(f"parts{generation}")
        words = ["-o", parts, "--parts", HELD_OUT_OF, "--name", "games"]
        self.kyokumen(parts / "games.manifest.json", "split", self.games(generation), *words)
        held_out, *learnt = sorted(parts.glob("*.hcpe3"))
        mirrored = self.path(f"mirrored{generation}.hcpe3")
        self.kyokumen(mirrored, "convert", *learnt, "-o", mirrored, "--mirror", "--keep-untrained")
        return [*learnt, mirrored], held_out

    def go_on(self, generation):
        """Plays a generation's games, and trains the next one with them and those before."""
        self.play(generation)
        divided = [self.divided(of) for of in range(max(generation - 1, 0), generation + 1)]
        games = [file for learnt, _ in divided for file in learnt]
        self.train(generation + 1, generation, games, [held_out for _, held_out in divided])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--generations", type=int, default=3)
    parser.add_argument("--games", type=int, default=2000, help="of a generation")
    parser.add_argument("--playouts", type=int, default=64)
    parser.add_argument("--match", type=int, default=200, help="games of a match at the end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--both", action="store_true", help="a line with mated openings, too")
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
            line.go_on(generation)
    print(f"{options.generations} generations in {(time.monotonic() - started) / 60:.0f} minutes")
    openings = options.folder / "match.sfen"
    words = ["--every", 20, "--max-moves", 24, "--count", options.match, "--seed", 99]
    if not openings.exists():
        run(options.kyokumen, "generate", *words, "-o", openings)
    last = options.generations
    pairs = [(line.network(last), line.network(0)) for line in lines]
    if options.both:
        pairs.append((lines[0].network(last), lines[1].network(last)))
    for first, second in pairs:
        words = ["--openings", openings, "--games", options.match, "--kyokumen", options.kyokumen]
        run(sys.executable, HERE / "match.py", first, second, *words, status=(0, 1))


if __name__ == "__main__":
    main()
