"""Reports of operations, and their progress."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class Report(dict[str, Any]):
    """What an operation tells: the object that the command line prints as JSON or writes as a manifest. Keys are attributes,
    too, with `_` for `-` and for `+`: `report.counts.written`."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        for key in self:
            if key.replace("-", "_").replace("+", "_") == name:
                return self[key]
        raise AttributeError(f"the report has no {name!r}: it has {', '.join(self)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


def report(text: str) -> Report:
    """The report in a text of JSON."""
    found: Report = json.loads(text, object_hook=Report)
    return found


def callback(progress: Any, records: int | None) -> Callable[[Report], object] | None:
    """What is called with how far a run has come: `progress` itself, or what moves a bar of tqdm on: True makes one."""
    if progress is None or progress is False:
        return None
    if progress is True:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]

        progress = tqdm(total=records, unit=" records", unit_scale=True)
    if callable(progress):
        call: Callable[[Report], object] = progress
        return call
    if not all(hasattr(progress, name) for name in ("update", "n", "total")):
        raise TypeError(f"progress is a function, a bar of tqdm or True, not {type(progress).__name__}")
    bar = progress

    def move_on(snapshot: Report) -> None:
        if snapshot["total"] is not None and bar.total != snapshot["total"]:
            bar.total = snapshot["total"]
        bar.update(snapshot["done"] - bar.n)

    return move_on
