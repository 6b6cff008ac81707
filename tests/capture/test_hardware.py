"""Hardware metrics of a capture: names and statistics of the public data, whatever there is to sample."""

import csv
import sys
from pathlib import Path

import pytest

from profet.capture.composing.hardware_metrics import metrics
from profet.capture.hardware.run_queue import RunQueue
from profet.capture.hardware.sampler import HardwareSampler
from profet.capture.recording import HardwareSamples
from tests.conftest import DATA

FAKE = Path(__file__).parent / "fake_nvml"


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FAKE)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)


def sampled(gpu: str | None = None) -> HardwareSamples:
    sampler = HardwareSampler(gpu)
    sampler.begin()
    return sampler.end()


def test_a_gpu_has_the_names_of_the_public_data(nvml: None) -> None:
    found, notes = metrics(sampled("1234"))
    assert not notes
    public = DATA / "hardware-metrics" / "nvidiasmi_devicequery.csv"
    if not public.is_file():
        pytest.skip(f"the public hardware metrics are not in {public}")
    with public.open() as file:
        header = set(next(csv.reader(file)))
    of_gpu = {
        name for name in found if not name.startswith(("utilization_cpu", "memory_host", "clocks_current_cpu"))
    }
    strangers = of_gpu - header - {"load_1min", "run_queue_waited_share"}
    assert {
        name for name in strangers if not name.startswith(("load_", "clocks_throttle_reasons_active_"))
    } == set()


def test_statistics_are_those_of_the_samples(nvml: None) -> None:
    found, _ = metrics(sampled("GPU-1234"))
    assert found["utilization_gpu_mean"] == 97
    assert found["memory_usedMiB_max"] == 4096
    assert found["power_drawW_50"] == 68.5
    assert found["clocks_throttle_reasons_sw_power_cap_Active"] == 2
    assert found["pcie_link_width_max"] == 16
    assert found["power_limitW"] is None


def test_what_cannot_be_sampled_is_said_and_the_rest_is_sampled(nvml: None) -> None:
    samples = sampled("another")
    assert samples.notes == ["no hardware metrics of the GPU: Not Found"]
    assert metrics(samples)[0]["memory_host_usedMiB_mean"]


def test_without_packages_to_sample_with_a_capture_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.setitem(sys.modules, "pynvml", None)
    samples = sampled("1234")
    assert [note.partition(":")[0] for note in samples.notes] == [
        "no hardware metrics of the machine",
        "no hardware metrics of the GPU",
    ]
    assert "pip install psutil" in samples.notes[0]
    assert "pip install nvidia-ml-py" in samples.notes[1]
    assert set(metrics(samples)[0]) <= {"run_queue_waited_share"}


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="no schedstat")
def test_a_process_alone_on_its_core_never_waits_longer_than_it_runs() -> None:
    queue = RunQueue()
    queue.begin()
    sum(range(10_000))
    waited = queue.share_waited()
    assert waited is not None
    assert 0 <= waited <= 1.0
