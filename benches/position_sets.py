"""The sets of positions on which mate solvers are compared: rows of SFEN and what is known about it."""

import random
import typing

from solvers import missing

NAMES = ("games", "engine", "random")
# What `--seed` draws: name of the set, file of the data folder or random play, positions.
DRAWN = list(zip(NAMES, ("dev.sfen.zst", "dev_engine.sfen.zst", None), (500, 300, 300)))


def bench_files(data):
    """The sets of the data folder that are compared by default, and that `--seed` leaves out."""
    return [path for path in (data / f"bench_{name}.tsv" for name in NAMES) if path.is_file()]


def check_sources(data):
    lacking = [source for _, source, _ in DRAWN if source and not (data / source).is_file()]
    if lacking:
        missing(
            f"--seed draws from {' and '.join(lacking)}, which {data} does not hold: name a folder"
            " with --data, or draw from a file of your own with benches/draw_positions.py"
        )


def drawn_sets(seeds, data, kept):
    """The sets of each seed, also as files in a folder where that is asked for."""
    try:
        import draw_positions
    except ImportError as error:
        missing(f"--seed draws with cshogi: {error}")
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
    """An SFEN in the first column and, if known, `mate`, `none` or `open` in the second."""
    return [(row[0], row[1] if len(row) > 1 else "open") for row in columns(file)]


class Problem(typing.NamedTuple):
    sfen: str
    # As stated, if it is.
    plies: int | None
    source: str


def read_problems(file):
    """An SFEN, its length in plies or `?`, its source; in the order in which `kyokumen solve` numbers them."""
    rows = ((row + ["?", "?"])[:3] for row in columns(file))
    return [Problem(sfen, None if plies == "?" else int(plies), source) for sfen, plies, source in rows]


def columns(file):
    """Of each line that holds something."""
    try:
        # `splitlines` ends lines at characters that are part of a text.
        lines = file.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        missing(f"cannot read {file}: {error}")
    return [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
