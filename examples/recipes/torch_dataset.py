#!/usr/bin/env python3
"""Feeds an archive to PyTorch with worker processes and trains a small model.

    kyokumen shuffle data/sample.psv -o shuffled.psv
    python3 examples/recipes/torch_dataset.py shuffled.psv

`kyokumen shuffle` shuffles the archive with little memory. Batches are then consecutive blocks of the file, which is
the fastest way to read a disk. Each of k workers reads every k-th batch.
"""

import argparse

import numpy as np
import torch
from numpy_records import PSV
from packed_positions import decode, from_side_to_move
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Records(IterableDataset):
    """Batches of a psv file: boards [N, 81], hands [N, 14], evaluations in centipawns [N] and results [N], seen from
    the side to move."""

    def __init__(self, path, batch):
        self.path, self.batch = path, batch
        self.records = len(np.memmap(path, PSV, mode="r"))

    def __len__(self):
        return -(-self.records // self.batch)

    def __iter__(self):
        # Each worker maps the file separately.
        file = np.memmap(self.path, PSV, mode="r")
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for number in range(first, len(self), step):
            yield self.tensors(np.array(file[number * self.batch : (number + 1) * self.batch]))

    @staticmethod
    def tensors(records):
        boards, hands = from_side_to_move(*decode(records["packed_sfen"], "psv"))
        return (
            torch.from_numpy(boards.astype(np.int64)),
            torch.from_numpy(hands.reshape(-1, 14).astype(np.float32)),
            torch.from_numpy(records["eval_cp"].astype(np.float32)),
            torch.from_numpy(records["result"].astype(np.float32)),
        )


class Model(torch.nn.Module):
    """A minimal model with a weight for each piece on each square and for each piece in hand."""

    def __init__(self):
        super().__init__()
        self.squares = torch.nn.Embedding(81 * 32, 1)
        self.hands = torch.nn.Linear(14, 1)
        torch.nn.init.zeros_(self.squares.weight)

    def forward(self, boards, hands):
        features = boards + 32 * torch.arange(81)
        return (self.squares(features).sum(dim=1) + self.hands(hands)).squeeze(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()

    torch.manual_seed(1)
    records = Records(options.file, options.batch)
    # The workers return complete batches.
    loader = DataLoader(records, batch_size=None, num_workers=options.workers)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        seen, results, loss_sum = 0, 0.0, 0.0
        for boards, hands, _, result in loader:
            loss = torch.nn.functional.mse_loss(torch.tanh(model(boards, hands)), result)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(result)
            results += float(result.sum())
            loss_sum += float(loss.detach()) * len(result)
        print(f"epoch {epoch}: {seen} records, results {results:+.0f}, loss {loss_sum / seen:.4f}")


if __name__ == "__main__":
    main()
