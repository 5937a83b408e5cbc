"""The functions have the options of the command line, whose help stands in `tests/cmd`."""

import ast
import pathlib
import re
from collections.abc import Callable
from typing import Any

import kyokumen
import pytest
from conftest import ROOT

# What has another name, or no meaning, in Python.
ARGUMENTS = {"input", "output"}
OF_A_TERMINAL = {"help", "verbose", "json"}
RENAMED = {"from": "from_"}

COMMANDS: dict[str, Callable[..., Any]] = {
    "filter": kyokumen.gen_filter,
    "convert": kyokumen.convert,
    "shuffle": kyokumen.shuffle,
    "dedup": kyokumen.dedup,
    "split": kyokumen.split,
    "verify": kyokumen.verify,
    "stats": kyokumen.stats,
}


def options(command: str) -> set[str]:
    """The options of a command, as Python would call them."""
    helps = "".join((ROOT / "tests/cmd" / name).read_text() for name in ("help.trycmd", "archives.trycmd"))
    found = re.search(rf"^\$ kyokumen {command} --help\n(.*?)^```", helps, re.DOTALL | re.MULTILINE)
    assert found is not None, f"no help of {command}"
    names = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", found.group(1), re.MULTILINE))
    assert {"help", "force", "threads"} <= names and len(names) > 8, f"{command}: {names}"
    return {RENAMED.get(name, name.replace("-", "_")) for name in names - ARGUMENTS - OF_A_TERMINAL}


def stubs() -> dict[str, set[str]]:
    """The keywords of each function in the stubs, those of unpacked dictionaries included."""
    path = pathlib.Path(kyokumen.__file__).with_name("_native.pyi")
    body = ast.parse(path.read_text()).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}

    def keys(name: str) -> set[str]:
        if name not in classes:
            return set()
        node = classes[name]
        own = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
        return own.union(*(keys(base.id) for base in node.bases if isinstance(base, ast.Name)))

    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names = {argument.arg for argument in node.args.kwonlyargs}
            if node.args.kwarg is not None and isinstance(node.args.kwarg.annotation, ast.Subscript):
                unpacked = node.args.kwarg.annotation.slice
                names |= keys(unpacked.id) if isinstance(unpacked, ast.Name) else set()
            found[node.name] = names
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_command_line_is_there(command: str, tmp_path: pathlib.Path) -> None:
    function = COMMANDS[command]
    expected = options(command)
    assert expected - stubs()[function.__name__] == set(), "options that the stubs lack"
    # Nothing is of this type: what a function knows it refuses by name, or takes with the rest and misses the file.
    unknown = object()
    for name in expected:
        limits = {"parts", "size", "records"}
        arguments: dict[str, Any] = {"parts": 2} if command == "split" and name not in limits else {}
        inputs = ["nowhere.psv"] if command == "verify" else ["nowhere.psv", tmp_path / "out"]
        if command == "stats":
            inputs = ["nowhere.psv"]
        with pytest.raises((TypeError, ValueError, OSError)) as error:
            function(*inputs, **arguments, **{name: unknown})
        assert "no option" not in str(error.value) and "unexpected" not in str(error.value), f"{name}: {error.value}"
    with pytest.raises(TypeError, match="no option"):
        function(*inputs, **({"parts": 2} if command == "split" else {}), no_such_thing=1)
