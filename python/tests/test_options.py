"""Functions have all options of their commands. `--help` lists these options."""

import ast
import inspect
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import kyokumen
import pytest

# Options that are positional arguments in Python.
ARGUMENTS = {"input", "output"}
# Options without a meaning in Python.
TERMINAL_ONLY = {"help", "verbose", "json", "kanji", "watch"}
RENAMED = {"from": "from_"}

COMMANDS: dict[str, Callable[..., Any]] = {
    "filter": kyokumen.gen_filter,
    "convert": kyokumen.convert,
    "dataset": kyokumen.dataset,
    "selfplay": kyokumen.selfplay,
    "relabel": kyokumen.relabel,
    "stats": kyokumen.stats,
    "status": kyokumen.status,
    "merge": kyokumen.merge,
    "shuffle": kyokumen.shuffle,
    "dedup": kyokumen.dedup,
    "split": kyokumen.split,
    "sample": kyokumen.sample,
    "interleave": kyokumen.interleave,
    "verify": kyokumen.verify,
    "inspect": kyokumen.inspect,
    "generate": kyokumen.generate,
}


def options(command: str) -> set[str]:
    """The options of a command, by their names in Python."""
    program = [sys.executable, "-m", "kyokumen", command, "--help"]
    help_text = subprocess.run(program, check=True, capture_output=True, encoding="utf-8").stdout
    names = set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z0-9-]+)", help_text, re.MULTILINE))
    assert "help" in names, help_text
    return {RENAMED.get(name, name.replace("-", "_")) for name in names - ARGUMENTS - TERMINAL_ONLY}


def stubs() -> dict[str, set[str]]:
    """The keywords of each function, including those of unpacked dictionaries."""
    folder = pathlib.Path(kyokumen.__file__).parent
    body = [node for name in ("_options.py", "_operations.py") for node in ast.parse((folder / name).read_text()).body]
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}

    def keys(name: str) -> set[str]:
        if name not in classes:
            return set()
        node = classes[name]
        own = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
        return own.union(*(keys(base.id) for base in node.bases if isinstance(base, ast.Name)))

    keywords: dict[str, set[str]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            keywords[node.name] = set()
            if node.args.kwarg is not None and isinstance(node.args.kwarg.annotation, ast.Subscript):
                unpacked = node.args.kwarg.annotation.slice
                keywords[node.name] |= keys(unpacked.attr) if isinstance(unpacked, ast.Attribute) else set()
    return keywords


@pytest.mark.parametrize("command", COMMANDS)
def test_functions_have_every_option_of_the_command_line(command: str, tmp_path: pathlib.Path) -> None:
    function = COMMANDS[command]
    expected = options(command)
    typed = stubs()[function.__name__]
    assert expected - typed == set(), "options without a type"
    # The first two have no effect in some commands, so they are not in the help. The command line computes checksums for
    # the report of --json.
    assert typed - expected <= {"keep_untrained", "sample", "checksums"}, "options that the command line lacks"
    required: dict[str, Any] = {"selfplay": {"games": 1, "model": "uniform"}, "generate": {"count": 1}}.get(command, {})
    paths: list[Any] = [tmp_path / "nowhere" for name in ("inputs", "folder", "output") if name in function.__annotations__]
    # No option accepts this value. A function rejects it by the name of the option.
    for name in expected:
        given = [None, *paths[1:]] if name in ("retry_unknown", "manifest", "proof") else paths
        with pytest.raises(TypeError, match=f"^{name}: " if name != "progress" else "progress"):
            function(*given, **{**required, name: object()})
    with pytest.raises(TypeError, match="no option no_such_thing" if expected else "no_such_thing"):
        function(*paths, **required, no_such_thing=1)


@pytest.mark.parametrize("function", [*COMMANDS.values(), kyokumen.DataLoader])
def test_types_of_signatures_can_be_resolved(function: Callable[..., Any]) -> None:
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        assert not isinstance(parameter.annotation, str)


def test_a_star_import_leaves_the_functions_of_python() -> None:
    assert not {"open", "print", "list"} & set(kyokumen.__all__)


@pytest.mark.parametrize("command", COMMANDS)
def test_docstrings_describe_every_option(command: str) -> None:
    text = COMMANDS[command].__doc__ or ""
    described = set(re.findall(r"^- `(\w+)`.*\.? [A-Z]", text, re.MULTILINE))
    expected = options(command)
    assert expected <= described
    # Commands without progress do not mention it.
    assert ("progress" in described) == ("progress" in stubs()[COMMANDS[command].__name__])
    # Options have their names in Python, except in commands.
    assert "--" not in re.sub(r"`kyokumen[^`]*`", "", text)
