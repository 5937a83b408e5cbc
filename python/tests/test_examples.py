"""Runs the examples: networks learn, and the cells of the notebook produce their stored outputs."""

import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import kyokumen
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def test_an_nnue_network_learns(psv: pathlib.Path) -> None:
    pytest.importorskip("jax")
    output = run("train_nnue.py", str(psv), "--epochs", "2", "--batch-size", "128", "--width", "8")
    losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", output)]
    assert len(losses) == 2 and losses[1] < losses[0], output
    assert len(re.findall(r"held-out games: winners [0-9.]+%", output)) == 2


def test_a_dlshogi_network_learns(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    pytest.importorskip("jax")
    kyokumen.convert(hcpe, tmp_path / "few.hcpe", limit=400)
    options = ["--epochs", "2", "--batch-size", "30", "--channels", "4", "--blocks", "1"]
    output = run("train_dlshogi.py", str(tmp_path / "few.hcpe"), *options)
    losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", output)]
    assert len(losses) == 2 and losses[1] < losses[0], output


def test_the_notebook_produces_its_stored_outputs(monkeypatch: pytest.MonkeyPatch, hcpe: pathlib.Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setenv("ARCHIVE", str(hcpe))
    notebook = json.loads((EXAMPLES / "look_at_an_archive.ipynb").read_text())
    names: dict[str, object] = {}
    boards = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        *statements, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), "cell", "exec"), names)
            continue
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        stored = [output["data"] for output in cell["outputs"] if output["output_type"] == "execute_result"]
        if hasattr(shown, "_repr_svg_"):
            assert ["".join(data["image/svg+xml"]).strip() for data in stored] == [shown._repr_svg_().strip()]
            boards += 1
        elif isinstance(shown, (dict, tuple)):
            # Jupyter breaks long tuples into lines, and the stored output has a relative path.
            plain = repr(shown).replace(str(hcpe), "sample.hcpe")
            assert ["".join("".join(data["text/plain"]).split()) for data in stored] == ["".join(plain.split())]
        assert stored or shown is None
    assert boards == 3 and len(names["table"]) == 2000  # type: ignore[arg-type]
