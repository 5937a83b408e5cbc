"""Fixtures of the tests: archives of the repository's samples in several formats."""

import pathlib

import kyokumen
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


@pytest.fixture(scope="session")
def hcpe() -> pathlib.Path:
    return DATA / "sample.hcpe"


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory, hcpe: pathlib.Path) -> pathlib.Path:
    """A folder with the sample as psv, hcp, sfen and psv.zst."""
    folder = tmp_path_factory.mktemp("samples")
    for name in ("sample.psv", "sample.hcp", "sample.sfen", "sample.psv.zst"):
        kyokumen.convert(hcpe, folder / name, fill={"ply": 0})
    return folder


@pytest.fixture(scope="session")
def psv(samples: pathlib.Path) -> pathlib.Path:
    return samples / "sample.psv"
