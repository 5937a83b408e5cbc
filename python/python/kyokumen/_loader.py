"""`DataLoader`: batches for training."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from kyokumen import _native, _options
from kyokumen._options import Unpack, _Paths


class DataLoader:
    """Batches of arrays for training, prepared ahead on separate threads.

    Each iteration is one epoch; the next iteration is the next epoch. After `load_state_dict`, the first iteration
    resumes the epoch of the state.

    Each batch is a dictionary of arrays:

    - `features1` and `features2` (dlshogi), `active` (halfkp, halfka_hm) or `records`
    - `move`, `result`, `value`, `score`: labels, except with `features="records"`
    - `policy` [N, 2187], with `policy=True`: the visits of a search as probabilities, otherwise 1 for the stored move
    - `index`: the numbers of the records over all files

    Options:

    - `features`: "dlshogi", "halfkp", "halfka_hm" or "records"
    - `planes`: 57 or 119; `dtype`: "float32", "float16" or "bits" (dlshogi)
    - `mirror`: False, True or "random"
    - `scale`: scale of evaluations in centipawns for `value`
    - `shuffle`, `seed`: random order of the records
    - `segment`: number of records that are read together; `window`: number of records that are shuffled together
    - `rank`, `world_size`: share of one process in distributed training
    - `drop_last`: omit the last batch if it is smaller
    - `threads`; `ahead`: number of batches prepared ahead
    - `on_error`: "stop" or "skip" for unreadable records
    - the filters of `convert`, with `sample_seed` for the seed of `sample`
    - `exclude`: `….mated.jsonl` file of a filter run with records to leave out
    - `drop_mated`: leave out mated positions, searched with `nodes`, `depth` and `hash_mb`
    - `tmp_dir`: folder for decompressed copies of compressed files; they are removed when the process ends
    - `spool=False`: read frames of seekable `.zst` files without decompressing the whole file
    - `from_`, `dialect`: format and move encoding of the files
    """

    def __init__(
        self,
        paths: _Paths,
        batch_size: int = 4096,
        *,
        epoch: int = 0,
        tensors: Literal["numpy", "torch"] = "numpy",
        **options: Unpack[_options.LoaderOptions],
    ) -> None:
        if tensors not in ("numpy", "torch"):
            raise ValueError(f'tensors must be "numpy" or "torch", not {tensors!r}')
        if tensors == "torch" and options.get("features") == "records":
            raise ValueError('tensors="torch" cannot hold structured records: set features to another value')
        self._loader = _native.Loader(paths, batch_size=batch_size, **options)
        self._arguments = (paths, batch_size, options)
        self._identity: dict[str, Any] = json.loads(self._loader.identity)
        self.tensors = tensors
        self.epoch = epoch
        self._begin = (0, 0, 0)
        self._place = (0, 0, 0)

    def __len__(self) -> int:
        return self._loader.batches

    def __repr__(self) -> str:
        _, batch_size, options = self._arguments
        files = len(self._identity["files"])
        shown = "".join(f", {name}={value!r}" for name, value in options.items() if name in ("features", "rank"))
        return (
            f"<kyokumen.DataLoader of {files} file{'s' if files > 1 else ''}, {self.records} records, "
            f"batch_size={batch_size}{shown}, epoch={self.epoch}>"
        )

    @property
    def records(self) -> int:
        """Number of records in all files, including records that will be left out."""
        return self._loader.records

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration, which starts at the beginning of the epoch."""
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
        """The state after the last returned batch, for `load_state_dict`.

        The other loader must have the same files, filters, batch size, order and ranks. Options that do not change the
        records of the batches may differ, such as `features` and `threads`.
        """
        window, record, number = self._place
        return {
            "version": 1,
            "identity": self._identity,
            "epoch": self.epoch,
            "window": window,
            "record": record,
            "batch": number,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Makes the next iteration resume from a state."""
        found = state.get("identity")
        if state.get("version") != 1 or not isinstance(found, dict):
            raise ValueError("the state is not from DataLoader.state_dict")
        own = self._identity
        other = [f"{name} is {own[name]!r}, not {found.get(name)!r}" for name in own if own[name] != found.get(name)]
        if other:
            raise ValueError(f"the state belongs to a loader with other files or settings: {'; '.join(other)}")
        self.epoch = state["epoch"]
        self._begin = self._place = (state["window"], state["record"], state["batch"])

    def __reduce__(self) -> tuple[Any, ...]:
        paths, batch_size, options = self._arguments
        return _restore, (paths, batch_size, options, self.tensors, self.state_dict())


def _as_torch(batch: dict[str, Any]) -> dict[str, Any]:
    import torch  # type: ignore[import-not-found, unused-ignore]

    # torch hardly supports unsigned 64-bit integers.
    return {
        name: torch.from_dlpack(array.astype("int64") if name == "index" else array)
        for name, array in batch.items()
    }


def _restore(
    paths: Any,
    batch_size: int,
    options: Any,
    tensors: Literal["numpy", "torch"],
    state: dict[str, Any],
) -> DataLoader:
    loader = DataLoader(paths, batch_size, tensors=tensors, **options)
    loader.load_state_dict(state)
    return loader
