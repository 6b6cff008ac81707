"""A user's training loop on two ranks with unequal batches; started by the test once a rank.

    python -m tests.partition.training.two_ranks RANK STORE OUTPUT ACCUMULATE

Each rank keeps the gradients of every optimizer step in OUTPUT, one array a step.
"""

import sys
from contextlib import nullcontext

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from profet.partition.training.gradients import weight_gradients
from profet.partition.training.sampler import UnequalBatchSampler

BATCHES = (5, 2)
SAMPLES = 24  # the last step of an epoch holds three samples


def network() -> nn.Module:
    """A small CNN without randomness beyond its seed."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 16), nn.Tanh(), nn.Linear(16, 5)
    )


def samples() -> TensorDataset:
    """Images and classes, drawn once."""
    generator = torch.Generator().manual_seed(1)
    images = torch.randn(SAMPLES, 3, 8, 8, generator=generator)
    return TensorDataset(images, torch.randint(0, 5, (SAMPLES,), generator=generator))


def gradients(model: nn.Module) -> np.ndarray:
    """All gradients of a model as one array."""
    return torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None]).numpy().copy()


def main(rank: int, store: str, output: str, accumulate: int) -> None:
    """Train two epochs."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=len(BATCHES))
    model = DistributedDataParallel(network(), bucket_cap_mb=1e-3)
    weight_gradients(model)
    sampler = UnequalBatchSampler(SAMPLES, BATCHES, rank, drop_last=accumulate > 1)
    loader = DataLoader(samples(), batch_sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for number, (images, classes) in enumerate(loader, 1):
            last = number % accumulate == 0
            with nullcontext() if last else model.no_sync():
                loss = nn.functional.cross_entropy(model(images), classes) / accumulate
                loss.backward()
            if last:
                kept.append(gradients(model))
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        model(samples().tensors[0][: 7 - rank])  # a validation, which must not be counted
        model.train()
    np.savez(output, *kept)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
