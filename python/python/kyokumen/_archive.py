"""Unpickling of archives."""

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
