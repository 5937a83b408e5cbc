"""Functions have all options of their commands. The help texts in `tests/cmd` list these options."""

import ast
import pathlib
import re
from collections.abc import Callable
from typing import Any

import kyokumen
import pytest
from conftest import ROOT

# Options that are positional arguments in Python.
ARGUMENTS = {"input", "output"}
# Options without a meaning in Python.
TERMINAL_ONLY = {"help", "verbose", "json"}
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
    """The options of a command, by their names in Python."""
    helps = "".join((ROOT / "tests/cmd" / name).read_text() for name in ("help.trycmd", "archives.trycmd"))
    help_text = re.search(rf"^\$ kyokumen {command} --help\n(.*?)^```", helps, re.DOTALL | re.MULTILINE)
    assert help_text is not None, f"no help of {command}"
    names = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", help_text.group(1), re.MULTILINE))
    assert {"help", "force", "threads"} <= names and len(names) > 8, f"{command}: {names}"
    return {RENAMED.get(name, name.replace("-", "_")) for name in names - ARGUMENTS - TERMINAL_ONLY}


def stubs() -> dict[str, set[str]]:
    """The keywords of each function in the stubs, including those of unpacked dictionaries."""
    path = pathlib.Path(kyokumen.__file__).with_name("_native.pyi")
    body = ast.parse(path.read_text()).body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}

    def keys(name: str) -> set[str]:
        if name not in classes:
            return set()
        node = classes[name]
        own = {item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}
        return own.union(*(keys(base.id) for base in node.bases if isinstance(base, ast.Name)))

    keywords = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names = {argument.arg for argument in node.args.kwonlyargs}
            if node.args.kwarg is not None and isinstance(node.args.kwarg.annotation, ast.Subscript):
                unpacked = node.args.kwarg.annotation.slice
                names |= keys(unpacked.id) if isinstance(unpacked, ast.Name) else set()
            keywords[node.name] = names
    return keywords


@pytest.mark.parametrize("command", COMMANDS)
def test_functions_have_every_option_of_the_command_line(command: str, tmp_path: pathlib.Path) -> None:
    function = COMMANDS[command]
    expected = options(command)
    assert expected - stubs()[function.__name__] == set(), "options that the stubs lack"
    # No option accepts this value. A function rejects it by the name of the option, or finds that the file is missing.
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
