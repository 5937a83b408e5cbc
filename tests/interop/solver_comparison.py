#!/usr/bin/env python3
"""Checks what `benches/compare_solvers.py`, `benches/compare_problems.py`, `benches/compare_threads.py` and
`benches/tsume_lengths.py` print, on a few positions.

Exit status 0: all statements are true, 1: one is false, 2: the program is missing.
"""

import sys
import xml.etree.ElementTree

import promises

PROGRAMS = ("Kyokumen", "cshogi", "nshogi")

# With a gold in hand there is a mate in one, without it there is no mate.
MATE_OF_ONE_PLY = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
NO_MATE = "4k4/9/4P4/9/9/9/9/9/4K4 b - 1"
# Ito Kanju's "Kotobuki".
HARD = "g3p3+r/3lPG3/1s4ppp/1l1B4P/L2b1kPl1/3+p3+R+p/3+p2+s1S/+NP+p1gS3/1g+p2P3 b 4P3n 1"
ONE_KING = "4k4/9/4P4/9/9/9/9/9/9 b G 1"
IN_CHECK_OUT_OF_TURN = "4k4/4P4/9/9/9/9/9/9/4K4 b G 1"


def main():
    return promises.check(
        __doc__,
        "comparisons",
        check_positions,
        check_known_verdicts,
        check_missing_packages,
        check_problems,
        check_threads,
        check_stated_lengths,
    )


def run(script, *words, lacking=None):
    """Runs a comparison of one round. The packages in the folder `lacking` cannot be imported."""
    return promises.run(script, "--rounds", "1", *words, packages=lacking)


def cells(output):
    """The rows of all tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines() if "|" in line]


def lines_in(file, *lines):
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def check_positions(folder, program):
    dozen, picture = folder / "dozen.tsv", folder / "curve.svg"
    source = promises.ROOT / "data/sample.sfen"
    done = promises.run("draw_positions.py", source, "--count", 12, "--seed", 7, "-o", dozen)
    yield f"a dozen positions are drawn: {done.stderr}", done.returncode == 0
    limits = ("--limits", "100,1000", "--peer-limits", "100,300", "--peer-limits", "nshogi=200,1000")
    done = run("compare_solvers.py", dozen, *limits, "--svg", picture, "--kyokumen", program)
    yield f"a dozen positions are compared: {done.stderr}", done.returncode == 0
    rows = cells(done.stdout)
    curves = [(row[0], row[1]) for row in rows if row[0] in PROGRAMS and len(row) == 7]
    yield f"each program has a row for each of its limits: {curves}", curves == [
        ("Kyokumen", "100"), ("Kyokumen", "1,000"), ("cshogi", "100"), ("cshogi", "300"), ("nshogi", "200"),
        ("nshogi", "1,000"),
    ]  # fmt: skip
    goals = [(row[0], row[1], row[5] == "–") for row in rows if len(row) == 10 and row[0] in PROGRAMS]
    yield f"each peer is compared on its verdicts, nshogi only on mates: {goals}", goals == [
        ("cshogi", "100", False), ("cshogi", "300", False), ("nshogi", "200", True), ("nshogi", "1,000", True)
    ]  # fmt: skip
    lines = xml.etree.ElementTree.parse(picture).findall(".//{*}polyline")
    shown = [line.get("class") for line in lines]
    yield f"nshogi has no curve of unknowns: {shown}", shown == [
        "line c0", "line c1", "line c0", "line c1", "line c2"
    ]  # fmt: skip


def check_known_verdicts(folder, program):
    limits = ("--limits", "100", "--peer-limits", "100", "--kyokumen", program)
    for known, wrong, status in (("mate", "0", 0), ("none", "1", 1)):
        file = lines_in(folder / f"{known}.tsv", f"{MATE_OF_ONE_PLY}\t{known}", f"{NO_MATE}\tnone")
        done = run("compare_solvers.py", file, *limits)
        rows = {row[0]: row for row in cells(done.stdout) if len(row) == 7}
        found = [(rows[name][3], rows[name][6]) for name in PROGRAMS]
        yield f"a mate with the known verdict {known}: {found}, status {done.returncode}", (
            found == [("1", wrong)] * 3 and done.returncode == status
        )


def check_missing_packages(folder, program):
    file = lines_in(folder / "one.tsv", MATE_OF_ONE_PLY)
    words = (file, "--limits", "100", "--peer-limits", "100", "--kyokumen", program)
    lacking = folder / "lacking"
    lacking.mkdir()
    for name, other in (("nshogi", "cshogi"), ("cshogi", None)):
        lines_in(lacking / f"{name}.py", f"raise ImportError('there is no {name}')")
        done = run("compare_solvers.py", *words, lacking=lacking)
        yield f"the missing {name} is reported: {done.stderr}", f"without {name}: there is no {name}" in done.stderr
        if other:
            yield f"the comparison continues without {name}", done.returncode == 0
            yield "the other program is in the table", f"| {other} | 100 |" in done.stdout and name not in done.stdout
        else:
            yield "without both programs there is no comparison", (done.returncode, done.stdout) == (2, "")


def check_problems(folder, program):
    file = lines_in(
        folder / "problems.tsv",
        "# The second has no length.", f"{MATE_OF_ONE_PLY}\t1\ta/1 of a\u2028page", "", f"{MATE_OF_ONE_PLY}\t?\ta/2", f"{ONE_KING}\t1\tb/1",
        f"{IN_CHECK_OUT_OF_TURN}\t1\ta/3",
    )  # fmt: skip
    words = ("--nodes", "1000", "--kyokumen", program)
    for options, plies, left_out in (
        ((), "| 1 | 1 |", "1 without a stated length, 1 without the attacker's king, 1 without a legal position or a king to mate"),
        (("--one-king", "--source", "b/"), "| 1 | 1 |", "none"),
        (("--one-king", "--every", "2"), "| 1 | 2 |", "none"),
    ):
        done = run("compare_problems.py", file, *options, *words)
        yield f"{options} leaves out {left_out}: {done.stdout}{done.stderr}", (
            done.returncode == 0 and f"problems, left out {left_out}." in done.stdout and plies in done.stdout
        )
        yield f"{options} leaves nothing unsolved", "Not solved" not in done.stdout
    file = lines_in(folder / "misstated.tsv", f"{NO_MATE}\t3\ta/1", f"{MATE_OF_ONE_PLY}\t1\ta/2")
    done = run("compare_problems.py", file, *words)
    reported = [f"**Not solved by {name}: 1**" in done.stdout for name in PROGRAMS]
    yield f"a position without a mate of 3 plies is reported: {done.stdout}", done.returncode == 1 and all(reported)


def check_threads(folder, program):
    file = lines_in(folder / "two.tsv", f"{MATE_OF_ONE_PLY}\t1\ta/1", "# one more", NO_MATE)
    done = run("compare_threads.py", file, "--kyokumen", program)
    first_cells = [row[0] for row in cells(done.stdout)]
    yield f"each position has a row, and so have all together: {done.stdout}{done.stderr}", (
        done.returncode == 0 and len(first_cells) == 6 and first_cells[-2].endswith("(all)")
    )
    done = run("compare_threads.py", lines_in(folder / "hard.tsv", HARD), "--kyokumen", program, "--nodes", "100")
    yield f"an undecided position is reported: {done.stderr}", (
        done.returncode == 1 and f"undecided or contradictory: {HARD}: unknown" in done.stderr
    )
    done = run("compare_threads.py", lines_in(folder / "empty.tsv", "# none"), "--kyokumen", program)
    yield f"an empty file is an error: {done.stderr}", done.returncode == 2 and "contains no positions" in done.stderr


def check_stated_lengths(folder, program):
    file = lines_in(
        folder / "stated.tsv",
        "# Each with a line separator of Unicode in its source.", f"{MATE_OF_ONE_PLY}\t1\ta/1\u2028b", "",
        f"{ONE_KING}\t1\tb/1", MATE_OF_ONE_PLY, f"{MATE_OF_ONE_PLY}\t3\tc/1",
    )  # fmt: skip
    done = promises.run("tsume_lengths.py", program, file)
    found = [line.strip() for line in done.stdout.splitlines() if "stated" in line and "of those" not in line]
    yield f"each problem has its own length: {done.stdout}{done.stderr}", found == [
        f"shorter than stated: plies stated 3, found 1, as tsume 1: {MATE_OF_ONE_PLY}",
        "1  no length stated", "1  as stated", "1  as stated", "1  shorter than stated",
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
