"""The commands of the command line as functions. Their options are keyword arguments.

Each function returns the report that the command writes as JSON or as a manifest.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from kyokumen import _native, _options
from kyokumen._errors import UsageError
from kyokumen._options import Unpack, _Path, _Paths
from kyokumen._report import Report
from kyokumen._onnx import find_onnx_runtime

_Function = TypeVar("_Function", bound=Callable[..., Any])
_HELP = _native.options()
_PROGRESS = (
    "- `progress`. True shows a bar of the package tqdm, which must be installed; a tqdm bar is updated; a function is "
    "called with snapshots: `done`, `total`, `rate`, `eta_s` and others."
)


def _documented(command: str) -> Callable[[_Function], _Function]:
    """Appends the options of a command to the docstring of its function."""

    def add(function: _Function) -> _Function:
        lines = [function.__doc__ or "", "", "Options:", ""]
        for name, value, text in _HELP[command]:
            if name not in function.__annotations__:
                lines.append(f"- `{name}`{': ' + value if value else ''}. {text}")
        if command not in ("generate", "inspect", "status"):
            lines.append(_PROGRESS)
        function.__doc__ = "\n".join(lines)
        return function

    return add


def _call(command: str, inputs: _Paths, given: Mapping[str, Any], **more: object) -> Report:
    positional = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    options = {**given, **more}
    progress = options.pop("progress", None)
    if "model" in options:
        find_onnx_runtime()
    report: Report = _native.call(command, positional, options, progress)
    return report


def _calls(command: str, inputs: _Paths, given: Mapping[str, Any]) -> list[Report]:
    """Like `_call`, for commands with several reports."""
    return cast("list[Report]", _call(command, inputs, given))


@_documented("convert")
def convert(inputs: _Paths, output: _Path, **options: Unpack[_options.ConvertOptions]) -> Report:
    """Converts records from any format to any other format."""
    return _call("convert", inputs, options, output=output)


@_documented("shuffle")
def shuffle(inputs: _Paths, output: _Path, **options: Unpack[_options.RearrangeOptions]) -> Report:
    """Shuffles the records of files."""
    return _call("shuffle", inputs, options, output=output)


@_documented("dedup")
def dedup(inputs: _Paths, output: _Path, **options: Unpack[_options.DedupOptions]) -> Report:
    """Removes duplicate records from files."""
    return _call("dedup", inputs, options, output=output)


@_documented("split")
def split(inputs: _Paths, output: _Path, **options: Unpack[_options.SplitOptions]) -> Report:
    """Distributes the records of files over several files.

    Set one of `parts`, `size` and `records`, or with `by="game"` and `by="position"` the `weights` of the parts.
    """
    return _call("split", inputs, options, output=output)


@_documented("sample")
def sample(inputs: _Paths, output: _Path, **options: Unpack[_options.SampleOptions]) -> Report:
    """Draws a random sample of the records of files: `count` records, or each record with probability `rate`.

    Warns that the records stay in the inputs.
    """
    report = _call("sample", inputs, options, output=output)
    warnings.warn(
        "the drawn records are still in the inputs, so they are no validation set; to separate one, use "
        'kyokumen.split(…, by="game", weights=[95, 5], names=["train", "valid"])',
        stacklevel=2,
    )
    return report


@_documented("interleave")
def interleave(inputs: _Paths, output: _Path, **options: Unpack[_options.InterleaveOptions]) -> Report:
    """Mixes files into one file. The records of each input keep their order."""
    return _call("interleave", inputs, options, output=output)


@_documented("stats")
def stats(inputs: _Paths, **options: Unpack[_options.StatsOptions]) -> Report:
    """Statistics of files: evaluations, plies, results, moves, pieces, repetitions.

    With `html`, also writes a page with plots.
    """
    return _call("stats", inputs, options)


@_documented("verify")
def verify(inputs: _Paths | None = None, **options: Unpack[_options.VerifyOptions]) -> list[Report]:
    """Checks all records of the `inputs`, the outputs that a `manifest` lists, or the proofs in a `proof` file.

    Returns a report for each file or manifest.
    """
    if [inputs, options.get("manifest"), options.get("proof")].count(None) != 2:
        raise UsageError("set exactly one of inputs, manifest and proof")
    return _calls("verify", [] if inputs is None else inputs, options)


@_documented("filter")
def gen_filter(inputs: _Paths | None, output: _Path, **options: Unpack[_options.FilterOptions]) -> Report:
    """Removes positions with a proven forced mate.

    Returns the manifest of the run, and in `was_done` whether it had already been completed earlier. With
    `retry_unknown`, the manifest of an earlier run, only its positions with unknown verdicts are searched again; `inputs`
    must be None. With `dry_run`, returns the inputs, the outputs and the estimated time, and writes nothing.
    """
    retry = options.get("retry_unknown") is not None
    if (inputs is not None) == retry or (retry and options.get("config") is not None):
        raise UsageError("expected either inputs, with or without config, or retry_unknown")
    return _call("filter", [] if inputs is None else inputs, options, output=output)


@_documented("dataset")
def dataset(inputs: _Paths, output: _Path, **options: Unpack[_options.DatasetOptions]) -> Report:
    """Writes a table of positions with their mate verdicts, in the format `to`.

    Returns the manifest of the run, with `was_done`, or with `dry_run` its plan, like `gen_filter`.
    """
    return _call("dataset", inputs, options, output=output)


@_documented("relabel")
def relabel(inputs: _Paths, output: _Path, **options: Unpack[_options.RelabelOptions]) -> Report:
    """Replaces the evaluations of records with those of a network (`model`) or a USI engine (`engine`).

    Returns the manifest of the run, with `was_done`, or with `dry_run` its plan, like `gen_filter`.
    """
    return _call("relabel", inputs, options, output=output)


@_documented("selfplay")
def selfplay(output: _Path, **options: Unpack[_options.SelfPlayOptions]) -> Report:
    """Plays `games` games of the networks `model` against themselves and writes them as training data.

    Returns the manifest of the run, with `was_done`, or with `dry_run` its plan.
    """
    return _call("selfplay", [], options, output=output)


@_documented("generate")
def generate(output: _Path, **options: Unpack[_options.GenerateOptions]) -> Report:
    """Writes `count` test records from random games. Returns the number of games by the way in which they ended."""
    return _call("generate", [], options, output=output)


@_documented("inspect")
def inspect(inputs: _Paths, **options: Unpack[_options.InspectOptions]) -> list[Report]:
    """Describes single records of files, by default the first of each file.

    A bad record has its `error` instead of its fields. With `html`, writes the records to a page with boards and returns
    an empty list.
    """
    return _calls("inspect", inputs, options)


@_documented("merge")
def merge(folder: _Path, output: _Path, **options: Unpack[_options.MergeOptions]) -> Report:
    """Joins the shards of the run in `folder` into one file.

    Returns the manifest of the file, or the verdict if `kyokumen solve --split` wrote the shards.
    """
    return _call("merge", folder, options, output=output)


def status(folder: _Path) -> list[Report]:
    """The progress of all runs that write to `folder`, finished or not: one report per run, with its shards."""
    return _calls("status", folder, {})
