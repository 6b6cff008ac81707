"""Training scripts as users have them, as text, and how to run one under a capture."""

import sys
from pathlib import Path

SHORT_OPTIONS = ("--warm-up", 3, "--timed", 8, "--profiled", 3)

TRAIN = """
import sys
import torch
from torch import nn

torch.set_num_threads(1)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.rand(6, 3, 20, 20)), torch.randint(4, (6,))).backward()
    optimizer.step()
"""


def script(folder: Path, *parts: str) -> Path:
    """Write a script of these parts."""
    path = folder / "train.py"
    path.write_text("\n".join(parts))
    return path


def command(path: Path, *arguments: object) -> list[object]:
    return [sys.executable, path, *arguments]
