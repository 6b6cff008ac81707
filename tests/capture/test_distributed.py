"""Data-parallel training: the process with rank 0 is captured, the others train."""

import sys
from pathlib import Path

import pytest

from profet import read_profile
from tests.capture.scripts import SHORT_OPTIONS, script
from tests.conftest import Run

DATA_PARALLEL = """
import os
import sys
import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
distributed.init_process_group("gloo")
rank = distributed.get_rank()
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
net = DistributedDataParallel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.rand(6 + rank, 3, 20, 20)), torch.randint(4, (6 + rank,))).backward()
    optimizer.step()
distributed.barrier()
print(f"rank {rank} done", flush=True)
os._exit(0)  # the end of gloo's threads is no matter of ours
"""


def test_rank_0_of_two_is_captured(profet: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed", reason="this PyTorch cannot train in several processes")
    torchrun = Path(sys.executable).with_name("torchrun")
    if not torchrun.exists():
        pytest.skip(f"no {torchrun}")
    path = script(tmp_path, DATA_PARALLEL)
    run = (torchrun, "--nproc-per-node", 2, "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0", path)
    done = profet("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *run)
    assert done.returncode == 0, done.stderr
    assert "rank 0 done" in done.stdout
    assert "rank 1 done" in done.stdout  # in any order, on one line or two
    profile = read_profile(tmp_path / "p.json")
    assert profile.batch_size == 6
    assert profile.device_calls["aten::conv2d"] == 1
    assert "c10d::allreduce_" in profile.device_us
