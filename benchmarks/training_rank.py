"""One rank of benchmarks.training_batches.

python -m benchmarks.training_rank RANK FOLDER measure
python -m benchmarks.training_rank RANK FOLDER epochs ROUNDS PLAN EQUAL
"""

import csv
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.training_batches import REPEATS, SAMPLES, SIZES, now_ms, write_steps
from profet.partition.training.gradients import weight_gradients
from profet.partition.training.sampler import UnequalBatchSampler

PIXELS = 64


def network() -> nn.Module:
    """A small residual-like CNN with batch normalisation."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 7, stride=2, padding=3), nn.BatchNorm2d(32), nn.ReLU()]
    for narrow, wide in ((32, 32), (32, 64), (64, 64), (64, 128)):
        layers += [nn.Conv2d(narrow, wide, 3, padding=1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] if wide > narrow else []
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 100))


def step(model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, classes: torch.Tensor) -> None:
    """Do one training step."""
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), classes).backward()
    optimizer.step()


def measure(rank: int, folder: Path) -> None:
    """Time steps by batch size while the other rank does the same."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    found = []
    for batch in SIZES:
        images, classes = torch.randn(batch, 3, PIXELS, PIXELS), torch.randint(0, 100, (batch,))
        step(model, optimizer, images, classes)
        for _ in range(REPEATS):
            start = now_ms()
            step(model, optimizer, images, classes)
            found.append((batch, now_ms() - start))
    write_steps(folder / f"rank{rank}.csv", rank, found)


def epochs(rank: int, folder: Path, rounds: int, plans: list[list[int]]) -> None:
    """Time epochs with each plan in turn; the first of each warms up."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    data = TensorDataset(torch.randn(SAMPLES, 3, PIXELS, PIXELS), torch.randint(0, 100, (SAMPLES,)))
    model = DistributedDataParallel(network())
    weight_gradients(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loaders = [DataLoader(data, batch_sampler=UnequalBatchSampler(SAMPLES, each, rank)) for each in plans]
    times = []
    for _ in range(rounds + 1):
        row = []
        for loader in loaders:
            dist.barrier()
            start = now_ms()
            for images, classes in loader:
                step(model, optimizer, images, classes)
            dist.barrier()
            row.append((now_ms() - start) / 1000)
        times.append(row)
    if rank == 0:
        with (folder / "epochs.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows(times[1:])
    dist.destroy_process_group()


if __name__ == "__main__":
    _, rank_, folder_, what, *more = sys.argv
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(rank_) % len(cores)]})
    torch.set_num_threads(1)
    if what == "measure":
        measure(int(rank_), Path(folder_))
    else:
        asked = [[int(size) for size in text.split(",")] for text in more[1:]]
        epochs(int(rank_), Path(folder_), int(more[0]), asked)
