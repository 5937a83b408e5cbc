"""Verdicts and times of mate solvers on sets of positions at their node limits."""

import collections
import dataclasses
import statistics

from measuring import in_turns
from solvers import DEPTH, MATE, NO_MATE, UNKNOWN


@dataclasses.dataclass
class Result:
    """Time and counts of verdicts of one program at one limit. None if the program does not report a count."""

    seconds: float
    positions: int
    mates: int
    wrong: int
    unknown: int | None
    depth: int | None

    def __add__(self, other):
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(other))
        return Result(*(None if a is None else a + b for a, b in pairs))

    def reaches(self, mates, unknown):
        """Whether the result has at least `mates` mates and at most `unknown` unknowns. None allows any number."""
        return self.mates >= mates and (unknown is None or self.unknown <= unknown)


class Measured:
    """Results by name of program, limit and set."""

    def __init__(self):
        self.results = {}

    def add(self, program, limit, name, result):
        self.results[program.name, limit, name] = result

    def by_program(self, program):
        return [result for (name, _, _), result in self.results.items() if name == program.name]

    def limits(self, program):
        return sorted({limit for name, limit, _ in self.results if name == program.name})

    def get(self, program, limit, names):
        """The sum of the results on the sets of these names."""
        first, *rest = (self.results[program.name, limit, name] for name in names)
        return sum(rest, start=first)


def measure(args, sets, measured, runs):
    """Measures programs at their limits on each set, in turns."""
    runs = sorted(runs, key=lambda run: run[1])
    for name, rows in sets.items():
        sfens = [sfen for sfen, _ in rows]
        seconds, verdicts = collections.defaultdict(list), {}
        for run in in_turns(args.rounds, runs, name):
            program, limit = run
            solutions = program.solve(sfens, limit, args.depth)
            seconds[run].append(sum(solution.seconds for solution in solutions))
            verdicts[run] = [solution.verdict for solution in solutions]
        for run in runs:
            program, limit = run
            measured.add(*run, name, counted(program, statistics.median(seconds[run]), verdicts[run], rows))


def counted(program, seconds, verdicts, rows):
    contradictions = ({verdict, known} == {MATE, NO_MATE} for verdict, (_, known) in zip(verdicts, rows))
    counts = collections.Counter(verdicts)
    return Result(
        seconds,
        positions=len(rows),
        mates=counts[MATE],
        wrong=sum(contradictions),
        unknown=counts[UNKNOWN] if program.reports_unknown else None,
        depth=counts[DEPTH] if program.reports_depth else None,
    )
