"""The mate solvers of the comparisons.

To add one, write a class with `name`, default `limits`, `solve`, `reports_unknown` and `reports_depth`, and add it to
`PEERS`.
"""

import argparse
import json
import subprocess
import sys
import time
import typing

# Verdicts. NOT_FOUND is for programs that do not distinguish "no mate" from "unknown".
MATE, NO_MATE, DEPTH, UNKNOWN, NOT_FOUND = "mate", "none", "depth", "unknown", "not found"


class Solution(typing.NamedTuple):
    """The verdict of one position and the time of its search."""

    verdict: str
    seconds: float


class Kyokumen:
    """Kyokumen's solver. The time is `elapsed_ms`: the search and the check of its proof."""

    name = "Kyokumen"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    reports_unknown = reports_depth = True
    VERDICTS = {"win": MATE, "loss": NO_MATE, "no_mate": NO_MATE, "unknown": UNKNOWN}

    def __init__(self, program):
        self.program = program

    def solve(self, sfens, nodes, depth):
        solutions = self.solutions(sfens, nodes, depth)
        assert list(solutions) == list(range(len(sfens))), "a position was rejected"
        return [Solution(self.verdict(solution), solution["elapsed_ms"] / 1000) for solution in solutions.values()]

    def accepted(self, sfens):
        """The SFENs that are positions with a king to mate."""
        return [sfens[index] for index in self.solutions(sfens, 1, 1)]

    def solutions(self, sfens, nodes, depth):
        """The solutions by index, without rejected positions."""
        options = ["--depth", depth, "--nodes", nodes, "--in-check", "or", "--threads", 1]
        command = [self.program, "solve", "-", "--json", *map(str, options)]
        text = "".join(f"{sfen}\n" for sfen in sfens)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        # Status 3 means that some positions were rejected.
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        return {solution["index"]: solution for solution in map(json.loads, done.stdout.splitlines())}

    def verdict(self, solution):
        return DEPTH if solution["stop"] == "depth" else self.VERDICTS[solution["verdict"]]


class Cshogi:
    """cshogi's DfPn. A search that finds no mate below its node limit counts as NO_MATE, although it may have stopped
    at the depth limit."""

    name = "cshogi"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000]
    reports_unknown, reports_depth = True, False

    def __init__(self):
        import cshogi

        self.package = cshogi

    def solve(self, sfens, nodes, depth):
        board = self.package.Board()
        solver = self.package.DfPn(depth=depth, nodes=nodes)
        solutions = []
        for sfen in sfens:
            board.set_sfen(sfen)
            started = time.perf_counter()
            found = solver.search(board)
            seconds = time.perf_counter() - started
            is_stopped = solver.searched_node >= nodes
            solutions.append(Solution(MATE if found else UNKNOWN if is_stopped else NO_MATE, seconds))
        return solutions


class Nshogi:
    """nshogi's DfPn. In Python, it returns a move or none, without the number of nodes. Each call clears its table.
    Without `with_pv` it returns only the first move and does not search for the line."""

    name = "nshogi"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000]
    reports_unknown = reports_depth = False
    MEMORY_MB = 64

    def __init__(self):
        from nshogi import io, solver

        self.state_of, self.new_solver = io.sfen.make_state_from_sfen, solver.DfPn

    def solve(self, sfens, nodes, depth):
        solver = self.new_solver(self.MEMORY_MB)
        solutions = []
        for sfen in sfens:
            state = self.state_of(sfen)
            started = time.perf_counter()
            # Keyword arguments would take a third of a microsecond longer.
            move = solver.solve(state, False, nodes, depth)
            seconds = time.perf_counter() - started
            solutions.append(Solution(NOT_FOUND if move.is_none() else MATE, seconds))
        return solutions


PEERS = [Cshogi, Nshogi]
PEER_NAMES = [peer.name for peer in PEERS]


def installed(names=PEER_NAMES):
    """The installed peers of these names. Reports missing peers; exits with status 2 if none is installed."""
    peers = []
    for peer in PEERS:
        if peer.name in names:
            try:
                peers.append(peer())
            except ImportError as error:
                print(f"without {peer.name}: {error}", file=sys.stderr)
    if not peers:
        missing("no other solver is installed: run pip install -r tests/interop/requirements.txt")
    return peers


def names_of_peers(text):
    """Parses the names of peers in an option."""
    names = text.split(",")
    if not set(names) <= set(PEER_NAMES):
        raise argparse.ArgumentTypeError(f"expected names of {', '.join(PEER_NAMES)}, not '{text}'")
    return names


def missing(message):
    print(message, file=sys.stderr)
    sys.exit(2)
