"""PyTorch tensors over the arrays of the loader, and loaders in PyTorch workers. Skipped without PyTorch."""

import pathlib
from collections.abc import Iterator
from typing import Any

import kyokumen
import numpy as np
import pytest

torch = pytest.importorskip("torch")

SMALL: dict[str, Any] = {"segment": 16, "window": 256, "seed": 3}


@pytest.mark.parametrize(
    "features",
    [
        {"dtype": "float32", "policy": True},
        {"dtype": "float16", "planes": 119},
        {"dtype": "bits"},
        {"features": "halfkp"},
        {"features": "halfka_hm"},
    ],
)
def test_tensors_equal_the_arrays(psv: pathlib.Path, features: dict[str, Any]) -> None:
    arrays = kyokumen.DataLoader(psv, 256, **SMALL, **features)
    tensors = kyokumen.DataLoader(psv, 256, tensors="torch", **SMALL, **features)
    batches = 0
    for array, tensor in zip(arrays, tensors):
        assert array.keys() == tensor.keys()
        for name in array:
            assert isinstance(tensor[name], torch.Tensor) and tensor[name].is_contiguous()
            np.testing.assert_array_equal(tensor[name].numpy(), array[name])
        assert tensor["move"].dtype == tensor["index"].dtype == torch.int64
        batches += 1
    assert batches == len(arrays) == 8


def test_tensors_share_and_keep_the_memory_of_arrays(psv: pathlib.Path) -> None:
    loader = kyokumen.DataLoader(psv, 200, dtype="float16", ahead=1, **SMALL)
    array = next(iter(loader))["features1"]
    tensor = torch.from_dlpack(array)
    assert tensor.data_ptr() == array.ctypes.data
    # The loader reuses the memory of batches, but not while a tensor uses it.
    kept = [(batch["features1"], batch["features1"].clone()) for batch in kyokumen.DataLoader(
        psv, 200, dtype="float16", ahead=1, tensors="torch", **SMALL
    )]
    assert len(kept) == 10 and all(torch.equal(tensor, copy) for tensor, copy in kept)
    # Writing to tensors does not change later batches.
    sums = [float(batch["features1"].float().sum()) for batch in kyokumen.DataLoader(psv, 200, tensors="torch", **SMALL)]
    written = []
    for batch in kyokumen.DataLoader(psv, 200, tensors="torch", ahead=1, **SMALL):
        written.append(float(batch["features1"].float().sum()))
        batch["features1"].fill_(7)
        batch["features2"].fill_(7)
    assert written == sums


def test_records_cannot_be_tensors(psv: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="structured records"):
        kyokumen.DataLoader(psv, 200, features="records", tensors="torch")


class WorkerShares(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined]
    """Each worker reads its share of the epoch."""

    def __init__(self, path: pathlib.Path, epoch: int) -> None:
        self.path, self.epoch = path, epoch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = torch.utils.data.get_worker_info()
        yield from kyokumen.DataLoader(
            self.path,
            100,
            epoch=self.epoch,
            rank=worker.id,
            world_size=worker.num_workers,
            threads=1,
            tensors="torch",
            dtype="bits",
            **SMALL,
        )


@pytest.mark.parametrize("name", ["sample.psv", "sample.psv.zst"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_share_an_epoch(samples: pathlib.Path, name: str, method: str) -> None:
    # Threads are in use before the workers are forked.
    kyokumen.features.dlshogi(kyokumen.open(samples / name), threads=2)
    begun = iter(kyokumen.DataLoader(samples / name, 100, **SMALL))
    next(begun)
    orders = []
    for epoch in (0, 0, 1):
        workers = torch.utils.data.DataLoader(
            WorkerShares(samples / name, epoch), batch_size=None, num_workers=2, multiprocessing_context=method
        )
        batches = list(workers)
        assert all(batch["features1"].shape[1:] == (628,) for batch in batches)
        orders.append([int(index) for batch in batches for index in batch["index"]])
        assert len(set(orders[-1])) == len(orders[-1]) > 2000 - 2 * 16
    assert orders[0] == orders[1] != orders[2]


class SharedLoader(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined]
    """A loader that was created before the fork."""

    def __init__(self, loader: kyokumen.DataLoader) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return (batch["features1"] for batch in self.loader)


def test_workers_can_read_files_opened_before_the_fork(tmp_path: pathlib.Path, hcpe: pathlib.Path) -> None:
    games = tmp_path / "a.hcpe3"
    kyokumen.convert(hcpe, games)
    loader = kyokumen.DataLoader(games, 20, tensors="torch", dtype="bits", threads=1, **SMALL)
    expected = [batch["features1"] for batch in loader]
    loader.set_epoch(0)
    # Both workers read through the same open file at the same time.
    workers = torch.utils.data.DataLoader(
        SharedLoader(loader), batch_size=None, num_workers=2, multiprocessing_context="fork"
    )
    found = list(workers)
    assert len(found) == 2 * len(expected)
    for place, tensor in enumerate(expected):
        assert torch.equal(found[2 * place], tensor) and torch.equal(found[2 * place + 1], tensor)
