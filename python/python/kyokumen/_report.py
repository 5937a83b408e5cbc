"""Reports and progress of operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class Report(dict[str, Any]):
    """The result of an operation: the object that the command line prints as JSON or writes as a manifest.

    Keys are also attributes, with `_` for `-` and `+`: `report.counts.written`. `dict(report)` shows all values.
    """

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        for key in self:
            if key.replace("-", "_").replace("+", "_") == name:
                return self[key]
        raise AttributeError(f"the report has no {name!r}; its keys are {', '.join(self)}")

    def _repr_html_(self) -> str:
        """The entries as a table for notebooks."""
        from html import escape

        def cell(value: Any) -> str:
            return value._repr_html_() if isinstance(value, Report) else escape(str(value))

        rows = (f"<tr><th>{escape(key)}</th><td>{cell(value)}</td></tr>" for key, value in self.items())
        return f"<table>{''.join(rows)}</table>"

    def __repr__(self) -> str:
        def short(value: Any) -> str:
            if isinstance(value, list) and value:
                return "[…]"
            return "{…}" if isinstance(value, Report) else repr(value)

        text = ", ".join(f"{key}={short(value)}" for key, value in self.items())
        return f"<kyokumen.Report {text if len(text) <= 300 else text[:299] + '…'}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})


def report(text: str) -> Any:
    """Parses a report in JSON, or a list of reports."""
    parsed = json.loads(text, object_hook=Report)
    return parsed


def callback(progress: Any) -> Callable[[Report], object] | None:
    """Returns a function to call with snapshots of the progress: `progress` itself if it is a function, or the update
    of a tqdm bar. True creates a bar. None if no progress is requested."""
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
        except ModuleNotFoundError as error:
            message = "progress=True needs the package tqdm: install it, or set progress to a function"
            raise ModuleNotFoundError(message, name=error.name) from None
        progress = tqdm(unit_scale=True)
    if callable(progress):
        call: Callable[[Report], object] = progress
        return call
    if not all(hasattr(progress, name) for name in ("update", "n", "total")):
        raise TypeError(f"progress must be a function, a tqdm bar or True, not {type(progress).__name__}")
    bar = progress

    def update_bar(snapshot: Report) -> None:
        if snapshot["total"] is not None and bar.total != snapshot["total"]:
            bar.total = snapshot["total"]
        # Self-play counts games.
        done = snapshot["games"] if "games" in snapshot else snapshot["done"]
        bar.update(done - bar.n)

    return update_bar
