"""The mate solvers that are compared, and what each can say about a position.

A further one is a class with `name`, default `limits`, `solve`, and whether it `says_unknown` and `says_depth`;
and an entry in `PEERS`.
"""

import argparse
import json
import subprocess
import sys
import time
import typing

# What a program may say about a position. One that cannot tell "no mate" from "gave up" says NOT_FOUND.
MATE, NO_MATE, DEPTH, UNKNOWN, NOT_FOUND = "mate", "none", "depth", "unknown", "not found"


class Answer(typing.NamedTuple):
    """Of one position, with the time of its search alone."""

    verdict: str
    seconds: float


class Kyokumen:
    """The time is `elapsed_ms`: the search and the check of its proof."""

    name = "Kyokumen"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    says_unknown = says_depth = True
    VERDICTS = {"win": MATE, "loss": NO_MATE, "no_mate": NO_MATE, "unknown": UNKNOWN}

    def __init__(self, program):
        self.program = program

    def solve(self, sfens, nodes, depth):
        answers = self.answers(sfens, nodes, depth)
        assert list(answers) == list(range(len(sfens))), "a position is refused"
        return [Answer(self.verdict(answer), answer["elapsed_ms"] / 1000) for answer in answers.values()]

    def accepted(self, sfens):
        """Those that are positions with a king to mate."""
        return [sfens[index] for index in self.answers(sfens, 1, 1)]

    def answers(self, sfens, nodes, depth):
        """By index; of what is refused there is none."""
        options = ["--depth", depth, "--nodes", nodes, "--in-check", "or", "--threads", 1]
        command = [self.program, "solve", "-", "--json", *map(str, options)]
        text = "".join(f"{sfen}\n" for sfen in sfens)
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        # 3 says that some are refused.
        if done.returncode not in (0, 3):
            sys.exit(done.stderr)
        return {answer["index"]: answer for answer in map(json.loads, done.stdout.splitlines())}

    def verdict(self, answer):
        return DEPTH if answer["stop"] == "depth" else self.VERDICTS[answer["verdict"]]


class Cshogi:
    """A search that found nothing and stayed below its limit of nodes says that there is no mate, though the depth
    may have been in its way."""

    name = "cshogi"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000]
    says_unknown, says_depth = True, False

    def __init__(self):
        import cshogi

        self.package = cshogi

    def solve(self, sfens, nodes, depth):
        board = self.package.Board()
        solver = self.package.DfPn(depth=depth, nodes=nodes)
        answers = []
        for sfen in sfens:
            board.set_sfen(sfen)
            started = time.perf_counter()
            found = solver.search(board)
            seconds = time.perf_counter() - started
            gave_up = solver.searched_node >= nodes
            answers.append(Answer(MATE if found else UNKNOWN if gave_up else NO_MATE, seconds))
        return answers


class Nshogi:
    """Says a move or none, and in Python not how many nodes it searched. It forgets its table with each call.
    Without `with_pv` it gives the first move only, which spares it the search for the line."""

    name = "nshogi"
    limits = [1_000, 3_000, 10_000, 30_000, 100_000]
    says_unknown = says_depth = False
    MEMORY_MB = 64

    def __init__(self):
        from nshogi import io, solver

        self.state_of, self.new_solver = io.sfen.make_state_from_sfen, solver.DfPn

    def solve(self, sfens, nodes, depth):
        solver = self.new_solver(self.MEMORY_MB)
        answers = []
        for sfen in sfens:
            state = self.state_of(sfen)
            started = time.perf_counter()
            # Names of arguments would take a third of a microsecond more.
            move = solver.solve(state, False, nodes, depth)
            seconds = time.perf_counter() - started
            answers.append(Answer(NOT_FOUND if move.is_none() else MATE, seconds))
        return answers


PEERS = [Cshogi, Nshogi]
PEER_NAMES = [peer.name for peer in PEERS]


def installed(names=PEER_NAMES):
    """The peers of these names; says which cannot be had, and ends with status 2 if none can."""
    found = []
    for peer in PEERS:
        if peer.name in names:
            try:
                found.append(peer())
            except ImportError as error:
                print(f"without {peer.name}: {error}", file=sys.stderr)
    if not found:
        missing("nothing to compare with: pip install -r tests/interop/requirements.txt")
    return found


def names_of_peers(text):
    """For options."""
    names = text.split(",")
    if not set(names) <= set(PEER_NAMES):
        raise argparse.ArgumentTypeError(f"expected names of {', '.join(PEER_NAMES)}, not '{text}'")
    return names


def missing(what):
    print(what, file=sys.stderr)
    sys.exit(2)
