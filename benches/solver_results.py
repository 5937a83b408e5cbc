"""What mate solvers knew about sets of positions at their limits of nodes, and how long it took."""

import collections
import dataclasses
import statistics

from measuring import in_turns
from solvers import DEPTH, MATE, NO_MATE, UNKNOWN


@dataclasses.dataclass
class Result:
    """What one program knew about some positions at one limit; None is what it cannot say."""

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
        """Whether it knows so much; `unknown` is None where nothing is asked of it."""
        return self.mates >= mates and (unknown is None or self.unknown <= unknown)


class Measured:
    """Results by name of the program, limit and set."""

    def __init__(self):
        self.results = {}

    def add(self, program, limit, name, result):
        self.results[program.name, limit, name] = result

    def of(self, program):
        return [result for (by, _, _), result in self.results.items() if by == program.name]

    def limits(self, program):
        return sorted({limit for by, limit, _ in self.results if by == program.name})

    def get(self, program, limit, names):
        """The result on some sets together."""
        first, *rest = (self.results[program.name, limit, name] for name in names)
        return sum(rest, start=first)


def measure(args, sets, measured, runs):
    """Measures programs at their limits, in turns, on each set."""
    runs = sorted(runs, key=lambda run: run[1])
    for name, rows in sets.items():
        sfens = [sfen for sfen, _ in rows]
        seconds, verdicts = collections.defaultdict(list), {}
        for run in in_turns(args.rounds, runs, name):
            program, limit = run
            answers = program.solve(sfens, limit, args.depth)
            seconds[run].append(sum(answer.seconds for answer in answers))
            verdicts[run] = [answer.verdict for answer in answers]
        for run in runs:
            program, limit = run
            measured.add(*run, name, judged(program, statistics.median(seconds[run]), verdicts[run], rows))


def judged(program, seconds, verdicts, rows):
    contradictions = ({verdict, known} == {MATE, NO_MATE} for verdict, (_, known) in zip(verdicts, rows))
    counts = collections.Counter(verdicts)
    return Result(
        seconds,
        positions=len(rows),
        mates=counts[MATE],
        wrong=sum(contradictions),
        unknown=counts[UNKNOWN] if program.says_unknown else None,
        depth=counts[DEPTH] if program.says_depth else None,
    )
