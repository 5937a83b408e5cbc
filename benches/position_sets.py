"""Sets of positions for the comparison of mate solvers: rows of SFEN and known verdict."""

import random
import typing

from solvers import missing

NAMES = ("games", "engine", "random")
# The sets of `--seed`: name, file of the data folder or None for random play, number of positions.
DRAWN = list(zip(NAMES, ("dev.sfen.zst", "dev_engine.sfen.zst", None), (500, 300, 300)))


def bench_files(data):
    """The sets of the data folder. They are compared by default, and `--seed` excludes their positions."""
    return [path for path in (data / f"bench_{name}.tsv" for name in NAMES) if path.is_file()]


def check_sources(data):
    lacking = [source for _, source, _ in DRAWN if source and not (data / source).is_file()]
    if lacking:
        missing(
            f"--seed needs {' and '.join(lacking)} in {data}: set another folder with --data, or draw positions from"
            " your own file with benches/draw_positions.py"
        )


def drawn_sets(seeds, data, kept):
    """Draws the sets of each seed. Also writes them to the folder `kept` if it is set."""
    try:
        import draw_positions
    except ImportError as error:
        missing(f"--seed needs cshogi: {error}")
    sets = {}
    try:
        excluded = draw_positions.positions_of(bench_files(data))
        for seed in seeds:
            generator = random.Random(seed)
            for name, source, count in DRAWN:
                if source:
                    drawn = draw_positions.draw_from_file(generator, data / source, count, excluded)
                else:
                    drawn = draw_positions.draw_random_play(generator, count, excluded)
                sets[f"{name}-{seed}"] = [(sfen, "open") for sfen in drawn]
                if kept:
                    kept.mkdir(parents=True, exist_ok=True)
                    draw_positions.write(kept / f"{name}-{seed}.tsv", drawn)
    except (draw_positions.CannotDraw, OSError) as error:
        missing(str(error))
    return sets


def read(file):
    """Reads a set: an SFEN and, if known, `mate`, `none` or `open`."""
    return [(row[0], row[1] if len(row) > 1 else "open") for row in columns(file)]


class Problem(typing.NamedTuple):
    sfen: str
    # The stated length, None if unknown.
    plies: int | None
    source: str


def read_problems(file):
    """Reads problems: SFEN, length in plies or `?`, source. The order is the numbering of `kyokumen solve`."""
    rows = ((row + ["?", "?"])[:3] for row in columns(file))
    return [Problem(sfen, None if plies == "?" else int(plies), source) for sfen, plies, source in rows]


def columns(file):
    """The columns of all lines except comments and blank lines."""
    try:
        # `splitlines` would also split at Unicode line separators within a text.
        lines = file.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        missing(f"cannot read {file}: {error}")
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
