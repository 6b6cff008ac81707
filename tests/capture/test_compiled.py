"""Networks that torch.compile compiled: their kernels go to the families of the operations that they fuse."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from profet import read_profile
from profet.capture.torch import OptimizerStepProfiler
from profet.profiles.families import op_families
from tests.capture.conftest import SHORT, SHORT_STEPS
from tests.capture.loops import BATCH, PIXELS, train


@pytest.mark.skipif(sys.platform != "linux", reason="kernels compiled for the CPU tell their names on Linux")
@pytest.mark.filterwarnings("ignore")
def test_kernels_compiled_for_the_cpu_are_operations(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        train(SHORT_STEPS, net=torch.compile(net))
    profile = read_profile(tmp_path / "p.json")
    compiled = [name for name in profile.device_us if name.startswith("cpp_fused")]
    families = dict(zip(compiled, op_families().families(compiled), strict=True))
    assert "activation_backward" in families.values(), families
    assert sum(profile.device_us[name] for name in compiled) > 0
    assert (profile.batch_size, profile.pixels) == (BATCH, PIXELS)
    assert not [name for name in profile.host_us if "CompiledFxGraph" in name]
