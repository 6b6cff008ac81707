"""Hardware metrics as CSV: rows of the public follow-up data, and samples of nvidia-smi."""

import csv
import io
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats.hardware import metrics_csv as hardware_metrics_csv
from profet.profiles.formats.hardware.nvidia_smi_samples import statistics
from profet.profiles.formats.recognition import looks_like_hardware_metrics
from profet.profiles.profile import Profile
from profet.profiles.reading import ReadOptions
from tests.conftest import DATA

HEADER = (
    "Instances,model,batchsize,datasize,totaldata,utilization_gpu_mean,utilization_gpu_std,fan_speed,uuid,pci_bus_id,"
    "CUDA Cores,compute_mode"
)
RUN = "p3,VGG19,32,224,2000,62.6,28.2,[N/A],GPU-1,00:1E.0,5120,Default"
SAMPLES = """timestamp, name, index, utilization.gpu [%], clocks.current.sm [MHz], memory.used [MiB], \
power.draw [W], clocks.max.sm [MHz], pcie.link.gen.current, fan.speed [%], clocks_throttle_reasons.sw_power_cap
2022/03/27 13:28:22.047, Tesla V100-SXM2-16GB, 0, 10 %, 1312 MHz, 531 MiB, 58.77 W, 1530 MHz, 3, [N/A], Not Active
2022/03/27 13:28:23.047, Tesla V100-SXM2-16GB, 0, 30 %, 1530 MHz, 1049 MiB, [N/A], 1530 MHz, 3, [N/A], Active
2022/03/27 13:28:24.047, Tesla V100-SXM2-16GB, 0, 80 %, 1530 MHz, 1049 MiB, 223.94 W, 1530 MHz, 3, [N/A], Active
"""


def read(content: bytes | str, **options: Any) -> Profile:
    data = content.encode() if isinstance(content, str) else content
    return hardware_metrics_csv.read(data, "x.csv", ReadOptions(**options))


def metrics(content: bytes | str, **options: Any) -> dict[str, float | None]:
    found = read(content, **options).hardware
    assert found is not None
    return found


def refusal(content: bytes | str, **options: Any) -> str:
    with pytest.raises(InputError, match=r"^x\.csv: ") as caught:
        read(content, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(scope="module")
def public_rows() -> list[list[str]]:
    path = DATA / "hardware-metrics" / "nvidiasmi_devicequery.csv"
    if not path.is_file():
        pytest.skip(f"the public hardware metrics are not in {path.parent}; set PROFET_TEST_DATA to where they are")
    with path.open(newline="") as file:
        return list(csv.reader(file))


def table(*rows: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def test_each_run_of_the_public_data_is_a_profile(public_rows: list[list[str]]) -> None:
    header, *runs = public_rows
    assert len(runs) == 373
    for row in runs:
        profile = read(table(header, row))
        cells = dict(zip(header, row, strict=True))
        assert (profile.instance, profile.batch_size) == (cells["Instances"], int(cells["batchsize"]))
        assert profile.pixels == int(cells["datasize"])
        assert (profile.host_us, profile.device_us, profile.framework) == ({}, {}, "unknown")
        assert profile.hardware is not None
        for name in (
            "utilization_gpu_mean",
            "power_drawW_max",
            "CUDA Cores",
            "Memory Bandwidth",
            "pcie_link_gen_max",
        ):
            assert profile.hardware[name] == float(cells[name])


def test_a_profile_of_the_public_data_does_not_tell_which_machine_or_model_it_was(
    public_rows: list[list[str]],
) -> None:
    header, first, *_ = public_rows
    profile = read(table(header, first))
    text = profile.to_json()
    cells = dict(zip(header, first, strict=True))
    for name in (
        "model",
        "serial",
        "uuid",
        "name",
        "new_timestamp_gpu",
        "pci_bus_id",
        "pci_device_id",
        "vbios_version",
    ):
        assert f'"{name}"' not in text
        assert cells[name] not in text
    assert (profile.hardware or {})["fan_speed"] is None
    assert not {"totaldata", "total_latency_second", "inforom_oem", "index"} & set(profile.hardware or {})


def test_the_whole_public_table_is_refused_with_how_many_runs_it_holds(public_rows: list[list[str]]) -> None:
    assert "holds 373 runs; a profile is one: keep its header and one row" in refusal(table(*public_rows))


def test_a_row_of_statistics_is_a_profile_without_operations() -> None:
    profile = read(f"{HEADER}\n{RUN}\n", step_latency_ms=12.5)
    assert (profile.instance, profile.batch_size, profile.pixels, profile.step_latency_ms) == ("p3", 32, 224, 12.5)
    assert profile.hardware == {
        "utilization_gpu_mean": 62.6,
        "utilization_gpu_std": 28.2,
        "fan_speed": None,
        "CUDA Cores": 5120.0,
    }
    assert "totaldata left out" in profile.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiters_and_encodings(delimiter: str, encoding: str) -> None:
    text = f"{HEADER}\r\n{RUN}\r\n".replace(",", delimiter)
    content = (text.replace(".", ",") if delimiter == ";" else text).encode(encoding)
    assert looks_like_hardware_metrics(content)
    assert metrics(content)["utilization_gpu_mean"] == 62.6


@pytest.mark.parametrize(
    ("was", "now", "word"),
    [
        ("62.6", "high", "row 2, utilization_gpu_mean is 'high'; it must be a number"),
        ("62.6", "inf", "row 2, utilization_gpu_mean"),
        ("62.6", "1e300", "no metric is that large"),
        (",32,", ",0,", "row 2, batchsize is '0'"),
        (",224,", ",many,", "row 2, datasize is 'many'"),
        (",Default", "", "row 2 has 11 columns of 12"),
        (RUN, "", "holds 0 runs"),
        ("fan_speed", "uuid", "column 'uuid' stands twice"),
    ],
)
def test_what_is_wrong_in_a_row_is_named(was: str, now: str, word: str) -> None:
    assert word in refusal(f"{HEADER}\n{RUN}\n".replace(was, now))


def test_samples_become_the_statistics_of_the_public_data() -> None:
    found = metrics(SAMPLES)
    expected = pd.Series([10.0, 30.0, 80.0])
    assert found["utilization_gpu_mean"] == expected.mean()
    assert found["utilization_gpu_std"] == pytest.approx(expected.std())
    assert (found["utilization_gpu_25"], found["utilization_gpu_75"]) == (20.0, 55.0)
    assert (found["clocks_current_smMHz_min"], found["memory_usedMiB_50"]) == (1312.0, 1049.0)
    assert (found["power_drawW_mean"], found["power_drawW_max"]) == ((58.77 + 223.94) / 2, 223.94)
    assert (found["clocks_max_smMHz"], found["pcie_link_gen_current"], found["fan_speed"]) == (1530.0, 3.0, None)
    assert found["clocks_throttle_reasons_sw_power_cap_Active"] == 2
    assert found["clocks_throttle_reasons_sw_power_cap_NotActive"] == 1
    assert not any("timestamp" in name or name == "index" or "name" in name for name in found)


def test_names_of_sampled_metrics_are_those_of_the_public_data(public_rows: list[list[str]]) -> None:
    assert set(metrics(SAMPLES)) <= set(public_rows[0])


@pytest.mark.parametrize("change", [(" %", ""), (" MHz", ""), (", ", ","), (", ", ";"), (", ", "\t")])
def test_samples_may_come_without_units_or_with_other_delimiters(change: tuple[str, str]) -> None:
    head, _, body = SAMPLES.partition("\n")
    if change[0] != ", ":
        assert metrics(head + "\n" + body.replace(*change)) == metrics(SAMPLES)
    else:
        content = SAMPLES.replace(*change)
        assert looks_like_hardware_metrics(content.encode())
        assert metrics(content) == metrics(SAMPLES)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_statistics_are_those_of_pandas(values: list[float]) -> None:
    series = pd.Series(values)
    expected = {"mean": series.mean(), "std": series.std(), "min": series.min(), "max": series.max()}
    expected |= {str(percent): series.quantile(percent / 100) for percent in (25, 50, 75)}
    found = statistics(values, "x")
    assert found == {f"x_{name}": pytest.approx(value, rel=1e-9, abs=1e-6) for name, value in expected.items()}


def two_gpus(key: str = "index") -> str:
    rows = [f"{key}, utilization.gpu [%]"]
    rows += [f"{gpu}, {10 * gpu + sample} %" for sample in range(3) for gpu in (0, 1)]
    return "\n".join(rows)


@pytest.mark.parametrize("key", ["index", "uuid", "gpu_uuid", "pci.bus_id"])
def test_of_several_gpus_the_busiest_is_read_unless_another_is_chosen(key: str) -> None:
    profile = read(two_gpus(key))
    assert (profile.hardware or {})["utilization_gpu_mean"] == 11.0
    assert "GPU 1 of 2 is read; left out: 0 (--gpu N to choose)" in profile.warnings
    assert metrics(two_gpus(key), device=0)["utilization_gpu_mean"] == 1.0
    assert "no GPU 7; it has 0, 1" in refusal(two_gpus(key), device=7)


def test_one_sample_or_none_is_refused() -> None:
    lines = SAMPLES.splitlines()
    assert "1 samples of one GPU; 2 are needed" in refusal("\n".join(lines[:2]))
    assert "0 samples" in refusal(lines[0])


@pytest.mark.parametrize(
    ("was", "now", "word"),
    [
        ("30 %", "busy", "row 3, utilization.gpu [%] is 'busy'; it must be a number"),
        ("1049 MiB", "1 GiB", "row 3, memory.used [MiB] is '1 GiB', but the column is in MiB"),
        ("Not Active", "Perhaps", "it must be Active or Not Active"),
        (", Active\n", "\n", "row 3 has 10 columns of 11"),
    ],
)
def test_what_is_wrong_in_a_sample_is_named(was: str, now: str, word: str) -> None:
    assert word in refusal(SAMPLES.replace(was, now, 1))


def test_a_metric_that_was_never_available_is_null() -> None:
    found = metrics(SAMPLES.replace("58.77 W", "N/A").replace("223.94 W", "[Not Supported]"))
    assert found["power_drawW_mean"] is None
    assert found["power_drawW_std"] is None


def test_columns_of_words_are_left_out() -> None:
    assert metrics("utilization.gpu [%], persistence_mode\n1 %, Enabled\n2 %, Enabled\n").keys() == {
        f"utilization_gpu_{name}" for name in ("mean", "std", "min", "25", "50", "75", "max")
    }


def test_other_tables_are_not_taken_for_hardware_metrics() -> None:
    for header in (b"Host/device,Type,Operation,Total time (us)\n", b'{"schema": 1}', b"", b"a,b\nutilization.gpu"):
        assert not looks_like_hardware_metrics(header)
    assert looks_like_hardware_metrics(SAMPLES.encode())


def check_read_or_refused(content: bytes, **options: Any) -> None:
    try:
        profile = read(content, **options)
    except InputError as error:
        assert str(error).startswith("x.csv: ")  # noqa: PT017 - any other error must fail the test
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert profile.hardware


cells = st.sampled_from(
    ["0", "1", "37 %", "1530 MHz", "[N/A]", "Active", "0x1", "nan", "1e308", "1,5", '"', "", "P0"]
)
titles = st.sampled_from(
    [
        "index",
        "uuid",
        "utilization.gpu [%]",
        "power.draw [W]",
        "power_drawW_mean",
        "batchsize",
        "pstate",
        "memory.total",
    ]
)
line = st.lists(cells | st.text(max_size=4), max_size=6)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(titles | st.text(max_size=5), max_size=6),
    st.lists(line, max_size=5),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-16"]),
    st.none() | st.integers(-1, 2),
)
def test_arbitrary_tables_are_refused_or_a_profile(
    header: list[str], rows: list[list[str]], delimiter: str, encoding: str, device: int | None
) -> None:
    text = "\n".join(delimiter.join(row) for row in (header, *rows))
    check_read_or_refused(text.encode(encoding, "ignore"), device=device)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=80), st.sampled_from([b"", HEADER.encode() + b"\n", SAMPLES.encode()]))
def test_random_bytes_are_refused_or_a_profile(content: bytes, before: bytes) -> None:
    check_read_or_refused(before + content)
