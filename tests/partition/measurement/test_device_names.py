"""A table tells what hardware its times are of, where that is known without loading a runtime."""

import pytest

from profet.partition.backends.cuda_devices import cuda_device_names
from profet.partition.machine import machine_facts
from profet.partition.measurement.device_names import device_name
from profet.partition.units import parse_unit


@pytest.mark.parametrize("unit", ["onnxruntime:cpu@0", "openvino:CPU", "tvm:llvm"])
def test_processors_are_called_by_their_name(unit: str):
    assert device_name(parse_unit(unit), machine_facts()) == machine_facts()["cpu"]


def test_nvidia_gpus_are_called_by_their_name_where_there_are_some():
    names = [*cuda_device_names(), None]
    assert device_name(parse_unit("torch:cuda:0"), machine_facts()) == names[0]
    assert device_name(parse_unit(f"torch:cuda:{len(names) - 1}"), machine_facts()) is None


@pytest.mark.parametrize("unit", ["openvino:GPU.0", "simulated:cpu"])
def test_others_have_no_name(unit: str):
    assert device_name(parse_unit(unit), machine_facts()) is None
