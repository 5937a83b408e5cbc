"""`DataLoader`: batches for a training."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from kyokumen import _native

if TYPE_CHECKING:
    from kyokumen._native import LoaderOptions
    from typing_extensions import Unpack


class DataLoader:
    """Batches of arrays for a training, made ahead of it on threads of their own.

    An iteration is an epoch, from where `load_state_dict` says to its end; the next one is the next epoch. Each batch is a
    dictionary of arrays: `features1` and `features2` (dlshogi), `active` (halfkp, halfka_hm) or `records`; `move`, `result`,
    `value`, `score`; with `policy=True` also `policy` [N, 2187], the visits of a search as soft targets where the records have
    them; `index`, the numbers of the records over all files.

    Options: `features` ("dlshogi", "halfkp", "halfka_hm", "records"), `planes` (57, 119), `dtype` ("float32", "float16", "bits"),
    `mirror` (False, True, "random"), `scale` of evaluations; `shuffle`, `seed`, `segment` and `window` (records that are read
    together, and that are mixed); `rank`, `world_size`, `drop_last`; `threads`, `ahead` (batches); `on_error` ("stop", "skip");
    the filters of `convert`, the seed of whose sample is `sample_seed` here; `exclude` (a `….mated.jsonl` of a filter run),
    `drop_mated` with `nodes`, `depth`, `hash_mb`; `tmp_dir` (where compressed files are decompressed, into a temporary file that
    vanishes with the process), `spool=False` (read frames of `.zst` in place).
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        batch_size: int = 4096,
        *,
        epoch: int = 0,
        tensors: Literal["numpy", "torch"] = "numpy",
        **options: Unpack[LoaderOptions],
    ) -> None:
        if tensors not in ("numpy", "torch"):
            raise ValueError(f'tensors is "numpy" or "torch", not {tensors!r}')
        if tensors == "torch" and options.get("features") == "records":
            raise ValueError("records are structured, and no tensors: features names what is made of them")
        self._loader = _native.Loader(paths, batch_size=batch_size, **options)
        self._arguments = (paths, batch_size, options)
        self.tensors = tensors
        self.epoch = epoch
        self._begin = (0, 0, 0)
        self._place = (0, 0, 0)

    def __len__(self) -> int:
        return self._loader.batches

    @property
    def records(self) -> int:
        """Number of all records, before any are left out."""
        return self._loader.records

    def set_epoch(self, epoch: int) -> None:
        """The epoch of the next iteration, which begins at its start."""
        self.epoch = epoch
        self._begin = self._place = (0, 0, 0)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        window, record, number = self._begin
        self._begin = (0, 0, 0)
        batches = self._loader.batches_of(self.epoch, window, record, number)
        for batch in batches:
            number += 1
            self._place = (*batches.place, number)
            yield _as_torch(batch) if self.tensors == "torch" else batch
        self.set_epoch(self.epoch + 1)

    def state_dict(self) -> dict[str, Any]:
        """Where the epoch stands, behind the batch that was taken last: for `load_state_dict` of a loader with the same files
        and settings, of which only threads may differ."""
        window, record, number = self._place
        return {
            "version": 1,
            "identity": self._loader.identity,
            "epoch": self.epoch,
            "window": window,
            "record": record,
            "batch": number,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Has the next iteration go on where another one stood."""
        if state.get("version") != 1 or state.get("identity") != self._loader.identity:
            raise ValueError(
                "the state is of a loader with other files or settings: "
                f"{state.get('identity')} is not {self._loader.identity}"
            )
        self.epoch = state["epoch"]
        self._begin = self._place = (state["window"], state["record"], state["batch"])

    def __reduce__(self) -> tuple[Any, ...]:
        paths, batch_size, options = self._arguments
        return _again, (paths, batch_size, options, self.tensors, self.state_dict())


def _as_torch(batch: dict[str, Any]) -> dict[str, Any]:
    import torch  # type: ignore[import-not-found, unused-ignore]

    # torch computes with no unsigned numbers of 64 bits.
    return {
        name: torch.from_dlpack(array.astype("int64") if name == "index" else array)
        for name, array in batch.items()
    }


def _again(
    paths: Any,
    batch_size: int,
    options: Any,
    tensors: Literal["numpy", "torch"],
    state: dict[str, Any],
) -> DataLoader:
    loader = DataLoader(paths, batch_size, tensors=tensors, **options)
    loader.load_state_dict(state)
    return loader
