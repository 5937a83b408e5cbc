"""Tables and curves of the comparison of mate solvers."""

from curve_svg import Curve
from measuring import figure, table


def report(args, sets, measured, reached):
    """All tables in Markdown. `reached` has the goals, each with Kyokumen's lowest limit that reaches it."""
    total = sum(len(rows) for rows in sets.values())
    head = f"One core, depth {args.depth}, median of {args.rounds} rounds; {total} positions."
    parts = [head, *curve_tables(args, sets, measured)]
    parts.append(goal_table(args, sets, measured, reached))
    parts.append(set_table(args, sets, measured))
    return "\n\n".join(part for part in parts if part)


def curve_tables(args, sets, measured):
    """Seconds, mates and unknowns, on all sets together and on each set."""
    groups = [("All positions", list(sets))]
    if len(sets) > 1:
        groups += [(name, [name]) for name in sets]
    for title, names in groups:
        rows = [
            curve_row(program, limit, measured.get(program, limit, names))
            for program, limits in args.runs.items()
            for limit in limits
        ]
        columns = ["program", "nodes", "seconds", "mates", "unknown", "stopped by depth", "wrong"]
        yield f"**{title}**\n\n{table(columns, rows)}"


def curve_row(program, limit, result):
    counts = [result.mates, known(result.unknown), known(result.depth), result.wrong]
    return [program.name, f"{limit:,}", figure(result.seconds), *counts]


def goal_table(args, sets, measured, reached):
    """The times of Kyokumen and of each peer for equal verdicts, at the named limits of the peer."""
    columns = ["program", "nodes", "seconds", "mates/unknown", "mates at least", "unknown at most"]
    columns += ["our nodes", "seconds", "mates/unknown", "ratio"]
    rows = []
    for goal, limit in reached:
        theirs = ["–"] * 4
        if goal.peer:
            result = measured.get(goal.peer, goal.limit, sets)
            theirs = [goal.peer.name, f"{goal.limit:,}", figure(result.seconds), verdicts(result)]
        ours = ["not reached", "–", "–", "–"]
        if limit is not None:
            our_result = measured.get(args.ours, limit, sets)
            ratio = f"{result.seconds / our_result.seconds:.1f} ×" if goal.peer else "–"
            ours = [f"{limit:,}", figure(our_result.seconds), verdicts(our_result), ratio]
        rows.append([*theirs, goal.mates, known(goal.unknown), *ours])
    return f"**Time for equal verdicts**\n\n{table(columns, rows)}"


def set_table(args, sets, measured):
    """Each set alone, with all programs at the same limits."""
    limits = sorted({limit for peer in args.peers for limit in args.named_limits[peer]})
    columns = ["set", "nodes", f"{args.ours.name}: positions/s · mates/unknown"]
    for peer in args.peers:
        columns += [peer.name, "ratio"]
    rows = []
    for name in sets:
        for limit in limits:
            if limit not in measured.limits(args.ours):
                continue
            ours = measured.get(args.ours, limit, [name])
            row = [name, f"{limit:,}", rate(ours)]
            for peer in args.peers:
                if limit in measured.limits(peer):
                    theirs = measured.get(peer, limit, [name])
                    row += [rate(theirs), f"{theirs.seconds / ours.seconds:.1f} ×"]
                else:
                    row += ["–", "–"]
            rows.append(row)
    return f"**Each set alone**\n\n{table(columns, rows)}" if rows else ""


def rate(result):
    return f"{result.positions / result.seconds:.0f} · {verdicts(result)}"


def verdicts(result):
    return f"{result.mates}/{known(result.unknown)}"


def known(count):
    return "–" if count is None else count


def curves(args, sets, measured):
    """The curves of the plot: seconds, mates and unknowns of each program at its limits."""
    for program, limits in args.runs.items():
        results = [(n, measured.get(program, n, sets)) for n in limits]
        yield Curve(program.name, [(r.seconds, r.mates, r.unknown, n) for n, r in results])
