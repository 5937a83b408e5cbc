"""The mate solver: verdicts, proofs, many positions, interruption."""

import os
import pathlib
import pickle
import signal
import threading
import time

import cshogi
import kyokumen
import numpy as np
import pytest

MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"
MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2"
HARD = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161"


def test_verdicts_lines_and_stop_reasons() -> None:
    solver = kyokumen.Solver(hash_mb=16)
    win = solver.solve(MATE_IN_ONE)
    assert (win.verdict, win.plies, [m.usi for m in win.line], win.stop) == ("win", 1, ["G*5b"], None)
    loss = solver.solve(kyokumen.Position(MATED))
    assert (loss.verdict, loss.plies, loss.line) == ("loss", 0, [])
    start = solver.solve(kyokumen.Position())
    assert start.verdict == "no_mate" and start.plies is None and start.proof is None
    unknown = solver.solve(HARD, nodes=10)
    assert (unknown.verdict, unknown.stop) == ("unknown", "nodes")
    shortest = solver.solve(MATE_IN_ONE, shortest=True, tsume_plies=True)
    assert shortest.is_shortest and shortest.tsume_plies == 1


def test_lines_end_with_mate() -> None:
    solution = kyokumen.Solver().solve(HARD, nodes=10**7, depth=200)
    assert solution.verdict == "win"
    board = cshogi.Board(HARD)
    for ply, move in enumerate(solution.line):
        assert move.usi in {cshogi.move_to_usi(m) for m in board.legal_moves}
        board.push_usi(move.usi)
        assert ply % 2 == 1 or board.is_check()
    assert board.is_check() and not list(board.legal_moves)


def test_proofs_survive_a_round_trip_and_are_verified() -> None:
    proof = kyokumen.Solver().solve(HARD, nodes=10**7, depth=200).proof
    assert proof is not None and proof.verdict == "win" and len(proof) > 10
    proof.verify()
    data = proof.to_bytes()
    again = kyokumen.Proof.from_bytes(data)
    again.verify()
    assert again.position == proof.position and again.plies == proof.plies
    with pytest.raises(kyokumen.KyokumenError):
        kyokumen.Proof.from_bytes(data[: len(data) // 2])
    with pytest.raises(kyokumen.KyokumenError):
        kyokumen.Proof.from_bytes(b"")


def test_a_forged_proof_is_rejected() -> None:
    import hashlib

    proof = kyokumen.Solver().solve(MATE_IN_ONE).proof
    assert proof is not None
    body = proof.to_bytes().rsplit(b"end\t", 1)[0].replace(b"G*5b", b"G*9e")
    forged = body + b"end\t1\t" + hashlib.sha256(body).hexdigest().encode() + b"\n"
    with pytest.raises(kyokumen.KyokumenError, match="does not give check"):
        kyokumen.Proof.from_bytes(forged).verify()


def test_solve_many_agrees_with_single_searches(psv: pathlib.Path) -> None:
    archive = kyokumen.open(psv)[:400]
    done: list[int] = []
    one = kyokumen.solve_many(archive, nodes=2000, hash_mb=4, threads=1, progress=done.append)
    two = kyokumen.solve_many(archive.numpy(), nodes=2000, hash_mb=4, threads=2)
    for left, right in zip(one, two, strict=True):
        np.testing.assert_array_equal(left, right)
    assert done == [256]
    solver = kyokumen.Solver(hash_mb=4, nodes=2000)
    for i in range(0, 400, 23):
        alone = solver.solve(archive[i].position)
        assert alone.verdict == kyokumen.Verdict(one.verdicts[i]).name.lower()
        assert alone.nodes == one.nodes[i] and (alone.plies or -1) == one.plies[i] or alone.plies == 0
    skipped = kyokumen.solve_many(archive, nodes=10, in_check="skip").verdicts == kyokumen.Verdict.SKIPPED
    np.testing.assert_array_equal(skipped, kyokumen.in_check(archive))


def test_positions_may_be_of_any_kind(psv: pathlib.Path) -> None:
    solver = kyokumen.Solver(1, nodes=100)
    mate = kyokumen.Position(MATE_IN_ONE)
    for given in (MATE_IN_ONE, mate, kyokumen.Record(mate), f"sfen {MATE_IN_ONE}"):
        assert solver.solve(given).plies == 1
    assert solver.solve("startpos moves 7g7f").verdict == solver.solve("startpos").verdict == "no_mate"
    positions = [MATE_IN_ONE, mate, kyokumen.Record(MATED), "startpos moves 7g7f"]
    solutions = kyokumen.solve_many(positions, nodes=100, hash_mb=1)
    assert solutions.plies.tolist() == [1, 1, 0, -1] and solutions.verdicts.tolist() == [1, 1, -1, 0]
    sfens = kyokumen.to_sfens(iter(positions))
    assert sfens == [MATE_IN_ONE, MATE_IN_ONE, MATED, kyokumen.Position("startpos moves 7g7f").sfen]
    assert kyokumen.decode(positions).ply.tolist() == [1, 1, 2, 2]
    assert kyokumen.in_check(positions).tolist() == [False, False, True, False]
    few = kyokumen.open(psv)[:20]
    for function in (kyokumen.encode, kyokumen.keys, kyokumen.legal_move_mask, kyokumen.features.halfkp):
        np.testing.assert_array_equal(function(list(few)), function(few))  # type: ignore[operator]
    kif = psv.parent / "few.kif"
    kyokumen.convert(psv, kif, limit=20, force=True)
    assert kyokumen.keys(kyokumen.open(kif)).tolist() == kyokumen.keys(list(kyokumen.open(kif))).tolist()
    for wrong, kind, message in (
        (MATE_IN_ONE, TypeError, "expected an Archive, an array of records or a list of positions, not str"),
        (5, TypeError, "expected an Archive, an array of records or a list of positions, not int"),
        ([mate, 5], TypeError, "position 1: expected a Position, a Record or an SFEN, not int"),
        ([mate, "nonsense"], kyokumen.PositionError, "position 1: "),
        ([mate, "startpos moves 7g7e"], kyokumen.PositionError, "position 1: "),
    ):
        with pytest.raises(kind, match=f"^{message}"):
            kyokumen.solve_many(wrong)  # type: ignore[arg-type]
    # Positions have no stored move.
    with pytest.raises(TypeError, match="expected an Archive or an array of records, not list"):
        kyokumen.has_legal_move([mate])  # type: ignore[arg-type]


def test_solutions_can_be_pickled_and_shown() -> None:
    solver = kyokumen.Solver(1)
    for sfen, nodes in ((MATE_IN_ONE, 100), (MATED, 100), ("startpos", 100), (HARD, 10)):
        solution = solver.solve(sfen, nodes=nodes, shortest=True, tsume_plies=True)
        copy = pickle.loads(pickle.dumps(solution))
        for name in ("verdict", "stop", "line", "plies", "tsume_plies", "is_shortest", "nodes", "elapsed_ms"):
            assert getattr(copy, name) == getattr(solution, name), name
        assert kyokumen.Verdict[solution.verdict.upper()] != kyokumen.Verdict.SKIPPED
        assert f"Solution {solution.verdict}" in solution._repr_html_()
        if solution.proof is not None:
            assert copy.proof.to_bytes() == pickle.loads(pickle.dumps(solution.proof)).to_bytes() == solution.proof.to_bytes()
    assert "<svg" in solver.solve(MATE_IN_ONE)._repr_html_()


def test_invalid_limits_and_positions_are_rejected() -> None:
    with pytest.raises(kyokumen.UsageError, match="4096"):
        kyokumen.Solver(depth=5000)
    with pytest.raises(kyokumen.UsageError):
        kyokumen.Solver(in_check="maybe")
    with pytest.raises(kyokumen.UsageError, match='^in_check: expected one of "both", "and", "or", "skip", not "zz"$'):
        kyokumen.solve_many([MATE_IN_ONE], in_check="zz")  # type: ignore[arg-type]
    for option in ("depth", "nodes", "threads", "hash_mb"):
        with pytest.raises(kyokumen.UsageError, match=f"^{option}: expected a whole number from 0 to [0-9]+, not -1"):
            kyokumen.solve_many([MATE_IN_ONE], **{option: -1})  # type: ignore[arg-type]
    with pytest.raises(kyokumen.UsageError, match="king is missing"):
        kyokumen.Solver(1).solve("9/9/9/9/9/9/9/9/4K4 b - 1")


def interrupt_soon() -> threading.Timer:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_a_search() -> None:
    solver = kyokumen.Solver(hash_mb=16)
    timer, started = interrupt_soon(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        while True:
            solver.solve(kyokumen.Position(), nodes=10**12, depth=4000, when_hopeless="go-on")
            solver.solve(HARD[:-3] + "1", nodes=10**12, depth=4000, when_hopeless="go-on", shortest=True)
    timer.join()
    assert time.monotonic() - started < 10
    assert solver.solve(MATE_IN_ONE).verdict == "win"


def test_ctrl_c_ends_many_searches(psv: pathlib.Path) -> None:
    archive = kyokumen.open(psv)
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        while True:
            kyokumen.solve_many(archive, nodes=10**9, depth=1000, when_hopeless="go-on")
    timer.join()
