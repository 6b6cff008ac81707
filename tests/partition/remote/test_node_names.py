"""Names of units on other machines, and what is said where Ray or a cluster is missing."""

import os
import sys

import pytest

from profet.errors import InputError
from profet.partition.units import parse_unit
from tests.conftest import Run, refused

WITHOUT_RAY = "import sys; sys.modules['ray'] = None; from profet.cli.main import main; main()"


@pytest.mark.parametrize(
    "name",
    [
        "ray://b:onnxruntime:cpu",
        "ray://10.0.0.7:onnxruntime:cpu@0-3:threads=2",
        "ray://gpu-box.local:torch:cuda:0:precision=f16:largest=64",
    ],
)
def test_a_unit_of_a_node_is_named_as_there_with_the_node_before_it(name: str) -> None:
    unit = parse_unit(name)
    assert unit.full_name == name
    assert f"ray://{unit.node}:{parse_unit(name.partition(f'{unit.node}:')[2]).full_name}" == name


@pytest.mark.parametrize(
    "name", ["ray://", "ray://b", "ray://b:", "ray://:cpu", "ray://a/b:cpu", "ray://a:ray://b:cpu"]
)
def test_what_names_no_unit_of_a_node_is_refused_with_where_to_look(name: str) -> None:
    with pytest.raises(InputError, match=r"units --ray lists them"):
        parse_unit(name)


def test_without_ray_it_is_told_how_to_get_it(profet: Run) -> None:
    import subprocess

    command = [sys.executable, "-c", WITHOUT_RAY, "partition", "units", "--ray"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    refused(result, "pip install 'profet-latency[ray]'")


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense", "ray://127.0.0.1:10001"])
def test_where_no_cluster_answers_it_is_told_at_once(profet: Run, address: str) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'profet-latency[ray]'")
    result = profet("partition", "units", "--ray", env={**os.environ, "RAY_ADDRESS": address})
    refused(result, "RAY_ADDRESS", address, "ray start")
