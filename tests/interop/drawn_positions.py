#!/usr/bin/env python3
"""Checks the positions that `benches/draw_positions.py` draws, and that `benches/compare_solvers.py --seed` uses them.

Exit status 0: all statements are true, 1: one is false, 2: the program is missing.
"""

import random
import sys

import cshogi
import promises
import pyarrow

SAMPLE = promises.ROOT / "data/sample.sfen"


def main():
    return promises.check(__doc__, "drawn positions", check_file, check_random_play, check_refusals, check_comparison)


def drawn(output, *words):
    """Draws positions and returns the lines."""
    done = promises.run("draw_positions.py", *words, "-o", output)
    assert done.returncode == 0, done.stderr
    return output.read_text().splitlines()


def key(line):
    """Board, side to move and hands."""
    return tuple(line.split("\t")[0].split()[:3])


def in_check(line):
    board = cshogi.Board()
    board.set_sfen(line.split("\t")[0])
    return board.is_check()


def pieces(line):
    return sum(character.isalpha() for character in line.split()[0])


def check_file(folder, _):
    sample = SAMPLE.read_text().splitlines()
    arguments = (SAMPLE, "--count", 700)
    first = drawn(folder / "first.tsv", *arguments, "--seed", 7)
    yield "700 positions are drawn", len(first) == 700
    yield "each is a line of the file, and open", set(first) <= {f"{line.split(chr(9))[0]}\topen" for line in sample}
    yield "the sample has positions in check", any(map(in_check, sample))
    yield "none is in check", not any(map(in_check, first))
    yield "one seed draws the same", drawn(folder / "again.tsv", *arguments, "--seed", 7) == first
    yield "another seed draws others", drawn(folder / "other.tsv", *arguments, "--seed", 8) != first

    packed = folder / "sample.sfen.zst"
    compress(SAMPLE.read_bytes(), packed)
    yield "compressed is the same", drawn(folder / "zst.tsv", packed, *arguments[1:], "--seed", 7) == first

    rest = drawn(folder / "rest.tsv", *arguments, "--seed", 7, "--exclude", folder / "first.tsv")
    yield "nothing is drawn that is excluded", not set(map(key, rest)) & set(map(key, first))


def check_random_play(folder, _):
    arguments = ("--random-play", "--count", 60)
    first = drawn(folder / "random.tsv", *arguments, "--seed", 7)
    yield "60 positions are drawn, none twice", len(first) == len(set(map(key, first))) == 60
    yield "none of random play is in check", not any(map(in_check, first))
    yield "15 to 36 pieces are on the board", all(15 <= pieces(line) <= 36 for line in first)
    yield "some positions have few pieces on the board", min(map(pieces, first)) < 25
    yield "one seed draws the same positions", drawn(folder / "again.tsv", *arguments, "--seed", 7) == first
    rest = drawn(folder / "rest.tsv", *arguments, "--seed", 7, "--exclude", folder / "random.tsv")
    yield "random play leaves out excluded positions", not set(map(key, rest)) & set(map(key, first))


def check_refusals(folder, _):
    def refusal(text, count=1):
        source = folder / "source.sfen"
        source.write_text(text)
        done = promises.run("draw_positions.py", source, "--count", count, "--seed", 1, "-o", folder / "none.tsv")
        return done.returncode, done.stderr.replace(str(source), "FILE").strip()

    # Another ply or another order of the hands is the same position. The last position is in check.
    kings = "4k4/9/9/9/9/9/9/9/4K4 b"
    lines = [f"{kings} RG2P 1\tmate", f"{kings} 2PGR 9", "# none", "", "4k4/4R4/9/9/9/9/9/9/4K4 w - 1"]
    yield "a file of too few positions is refused", refusal("\n".join(lines), 2) == (
        2,
        "FILE: 2 positions requested, but only 1 of 3 are not in check, not excluded and not repeated",
    )
    for text in ("no position", "4k4/9/9/9/9/9/9/9/9 b - 1", "4k4/9/9/9/9/9/9/4K4 b - 1"):
        expected = f"FILE: expected an SFEN with both kings in the first column, not '{text}'"
        yield f"'{text}' is refused", refusal(text) == (2, expected)
    yield "a refused draw writes nothing", not (folder / "none.tsv").exists()


def check_comparison(folder, program):
    data, kept = folder / "data", folder / "kept"
    data.mkdir()
    seed = ("--seed", "7", "--data", data, "--kyokumen", program)
    done = promises.run("compare_solvers.py", *seed)
    yield "a data folder without sources is refused", (done.returncode, done.stderr.strip()) == (
        2,
        f"--seed needs dev.sfen.zst and dev_engine.sfen.zst in {data}: set another folder with --data, or draw"
        " positions from your own file with benches/draw_positions.py",
    )

    sample = SAMPLE.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(sample)
    (data / "bench_games.tsv").write_text("".join(sample[:400]))
    compress("".join(sample[:1200]).encode(), data / "dev.sfen.zst")
    compress("".join(sample[1200:]).encode(), data / "dev_engine.sfen.zst")
    limits = ("--limits", "10,20", "--peer-limits", "20", "--rounds", "1")
    done = promises.run("compare_solvers.py", *seed, *limits, "--keep-sets", kept)
    yield f"the comparison succeeds: {done.stderr}", done.returncode == 0
    sets = {name: (kept / f"{name}-7.tsv").read_text().splitlines() for name in ("games", "engine", "random")}
    yield "the sets have 500, 300 and 300 positions", [len(lines) for lines in sets.values()] == [500, 300, 300]
    lines = [line for lines in sets.values() for line in lines]
    yield "none of them is excluded", not set(map(key, lines)) & set(map(key, sample[:400]))
    for row in ("1100 positions.", "| Kyokumen | 10 |", "| cshogi | 20 |", "| games-7 | 20 |", "| random-7 | 20 |"):
        yield f"the tables have {row}", row in done.stdout
    promises.run("compare_solvers.py", *seed, *limits, "--keep-sets", folder / "again")
    yield "one seed draws the same sets", all(
        (folder / "again" / file.name).read_bytes() == file.read_bytes() for file in kept.iterdir()
    )


def compress(content, file):
    with pyarrow.output_stream(str(file), compression="zstd") as stream:
        stream.write(content)


if __name__ == "__main__":
    sys.exit(main())
