"""Small training loops in PyTorch, as users write them."""

from collections.abc import Callable, Iterator

import torch
from torch import nn

BATCH, PIXELS = 6, 20


def small_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 4),
    )


def batches(count: int, pixels: int = PIXELS) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for _ in range(count):
        yield torch.rand(BATCH, 3, pixels, pixels), torch.randint(4, (BATCH,))


def train(
    steps: int,
    after_step: Callable[[], None] = lambda: None,
    net: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    micro_batches: int = 1,
) -> None:
    """Train for so many optimizer steps."""
    net = net or small_cnn()
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        for images, labels in batches(micro_batches):
            nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()
        after_step()
