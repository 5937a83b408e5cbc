"""Shared functions of comparisons in turns on one core: the core, the rounds, and Markdown tables."""

import os
import sys


def pin_to_one_core():
    """Pins this process to one core, if the system supports it. Child processes inherit the core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def in_turns(rounds, runs, title):
    """Yields each run of each round and reports it on standard error. A run is a program and its node limit."""
    for number in range(rounds):
        for program, limit in runs:
            print(f"{title}, round {number + 1}: {program.name} {limit}", file=sys.stderr)
            yield program, limit


def figure(seconds):
    """Formats a time with three significant digits."""
    return f"{seconds:.3g}" if seconds < 100 else f"{seconds:.0f}"


def table(columns, rows):
    lines = [columns, ["---"] + ["--:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
