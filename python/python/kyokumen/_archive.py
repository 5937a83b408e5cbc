"""Unpickling of archives, records and results of the solver."""

from __future__ import annotations

import os
from typing import Any

from kyokumen import _native


def reopen(
    path: str | os.PathLike[str],
    format: str | None,
    dialect: Any,
    records: tuple[int, int] | None,
) -> _native.Archive:
    """Opens a pickled archive."""
    archive = _native.open(path, format=format, dialect=dialect)
    return archive if records is None else archive[records[0] : records[1]]


def restore(sfen: str, fields: tuple[Any, Any], index: int, data: bytes) -> _native.Record:
    """Makes a pickled record."""
    (move, eval_cp, ply, result, ending), (end_ply, candidates, for_training) = fields
    record = _native.Record(
        sfen,
        move=move,
        eval_cp=eval_cp,
        ply=ply,
        result=result,
        ending=ending,
        end_ply=end_ply,
        candidates=candidates,
        for_training=for_training,
    )
    return record._located(index, data)


def restore_solution(stored: Any) -> _native.Solution:
    """Makes a pickled solution."""
    return _native.Solution._restored(stored)


def restore_proof(data: bytes) -> _native.Proof:
    """Makes a pickled proof."""
    return _native.Proof.from_bytes(data)
