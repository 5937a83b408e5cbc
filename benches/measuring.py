"""What comparisons in turns on one core share: the core, the rounds, and figures in Markdown."""

import os
import sys


def pin_to_one_core():
    """All programs inherit it, where the system lets a program choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def in_turns(rounds, runs, title):
    """Each run of each round, said on standard error; a run is a program and its limit of nodes."""
    for number in range(rounds):
        for program, limit in runs:
            print(f"{title}, round {number + 1}: {program.name} {limit}", file=sys.stderr)
            yield program, limit


def figure(seconds):
    """Three digits that count."""
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"


def table(columns, rows):
    lines = [columns, ["---"] + ["--:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
