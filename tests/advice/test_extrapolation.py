"""Instances that nobody measured, and instances of several GPUs: marked, wide, and recommended only when asked."""

from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from profet.advice.advice import Demands
from profet.advice.advise import advise
from profet.instances.instance import Gpu
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.data_sheets.prediction import sheet_spreads
from profet.predictors.prediction import predict
from profet.profiles.example import example_profile
from tests.advice.machines_made_up import RUN, TODAY, TWICE, catalogue, example, instance


def test_an_instance_nobody_measured_is_marked_and_not_recommended_unless_asked() -> None:
    twice = instance("twice", "TwiceV100", 0.1)
    advice = example(None, twice)
    option = advice.option("twice")
    base = advice.option("p3.2xlarge")
    assert option.basis == "extrapolated"
    assert "from data sheets, beside 4 known GPUs; off by" in option.explanation
    assert base.latency_ms / 3 <= option.latency_ms < 0.8 * base.latency_ms
    assert option.hours_low is not None
    assert option.hours_high is not None
    assert option.hours_high / option.hours_low > 2
    assert advice.recommended == "g4dn.xlarge"
    assert any("nobody measured may cost less, such as twice" in text for text in advice.warnings)
    assert example(Demands(may_extrapolate=True), twice).recommended == "twice"


def test_the_same_gpu_elsewhere_is_as_fast_and_twice_as_uncertain() -> None:
    advice = example(None, instance("elsewhere", "T4", 0.2))
    here, there = advice.option("g4dn.xlarge"), advice.option("elsewhere")
    assert there.latency_ms == here.latency_ms
    assert there.basis == "extrapolated"
    widths = [np.log((each.latency_high_ms or 0) / (each.latency_low_ms or 1)) for each in (here, there)]
    assert widths[1] == pytest.approx(2 * widths[0])


def test_a_gpu_without_a_data_sheet_is_left_out_and_told() -> None:
    advice = example(None, instance("bare", "Bare", 0.1))
    assert "bare" not in {option.target for option in advice.options}
    assert any("1 with a GPU of which too little is known" in text for text in advice.warnings)


def test_several_gpus_are_offered_only_with_an_assumption_which_is_stated() -> None:
    four = instance("four", "V100", 12.0, gpus=4)
    without = example(None, four)
    assert "four" not in {option.target for option in without.options}
    assert any("--scaling" in text for text in without.warnings)
    option = example(Demands(scaling=(0.8, 0.9)), four).option("four")
    base = without.option("p3.2xlarge")
    assert option.gpus == 4
    assert "each assumed to keep 80–90 % of its speed" in option.explanation
    assert option.latency_ms == pytest.approx(base.latency_ms / 0.85)
    assert option.hours == pytest.approx(RUN.hours(base.latency_ms / 0.85, 4))
    sure = example(Demands(scaling=(0.85, 0.85)), four).option("four")
    assert (option.hours_high or 0) / (option.hours_low or 1) > (sure.hours_high or 0) / (sure.hours_low or 1)


def test_rates_speed_up_what_they_bound_and_leave_the_rest() -> None:
    rates = {"as it is": (14, 900), "arithmetic": (28, 900), "memory": (14, 1800), "both": (28, 1800)}
    gpus = [
        Gpu(name=name, compute_capability=7.0, fp32_tflops=tflops, bandwidth_gb_s=gb_s, source="test")
        for name, (tflops, gb_s) in rates.items()
    ]
    advice = example(None, *(instance(name, name, 1.0) for name in rates), gpus=gpus)
    base = advice.option("as it is").latency_ms
    gain = {name: base - advice.option(name).latency_ms for name in rates}
    card = predict(example_profile(), targets=["p3.2xlarge"]).predictions[0].card
    convolutions = sum(each.target_ms for each in card.families if each.family.startswith("conv"))
    assert gain["arithmetic"] > convolutions / 3 > gain["memory"] > 0
    assert gain["both"] > gain["arithmetic"] + gain["memory"]  # more multiprocessors keep more bytes under way, too
    assert gain["both"] < base / 2


def test_between_two_gpus_known_from_data_sheets_alone_it_is_a_toss() -> None:
    twin = msgspec.structs.replace(TWICE, name="TwinOfIt")
    two = (instance("one", TWICE.name, 0.1), instance("other", twin.name, 0.1001))
    advice = example(Demands(may_extrapolate=True), *two, gpus=[twin])
    assert (advice.recommended, advice.next) == ("one", "other")
    assert advice.p_cheaper_than_next == pytest.approx(0.5, abs=0.05)


def test_no_spread_is_made_up_where_the_known_latencies_have_none(tmp_path: Path) -> None:
    manifest, arrays = Bundle.load().contents()
    kept = {name: array for name, array in arrays.items() if "calibration/" not in name and "joint/" not in name}
    path = tmp_path / "plain.profet"
    path.write_bytes(pack(asdict(replace(manifest, joint=[])), kept))
    known = catalogue(instance("twice", "TwiceV100", 0.1), instance("elsewhere", "T4", 0.1))
    demands = Demands(deadline_hours=1000, may_extrapolate=True)
    advice = advise(example_profile(), RUN, demands, bundle=Bundle.load(path), catalogue=known, today=TODAY)
    for name in ("twice", "elsewhere", "p3.2xlarge"):
        option = advice.option(name)
        assert (option.hours_low, option.p_deadline, option.p_cheapest) == (None, None, None)
    assert advice.recommended == "twice"


def test_an_assumed_share_widens_the_interval_and_is_each_machines_own() -> None:
    four, eight = instance("four", "V100", 12.0, gpus=4), instance("eight", "V100", 24.0, gpus=8)
    advice = example(Demands(scaling=(0.5, 1.0), may_extrapolate=True), four, eight)
    shares = [
        advice.option(name).latency_ms / advice.draws[advice.option(name).draws] for name in ("four", "eight")
    ]
    assert abs(np.corrcoef(shares)[0, 1]) < 0.5
    for name in ("four", "eight"):
        option = advice.option(name)
        drawn = advice.draws[option.draws]
        inside = (drawn >= option.latency_low_ms) & (drawn <= option.latency_high_ms)
        assert inside.mean() == pytest.approx(0.9, abs=0.01)
        assert option.hours_high == RUN.hours(option.latency_high_ms or 0, option.gpus)


def test_errors_from_data_sheets_are_as_large_as_on_gpus_left_out_with_long_tails() -> None:
    advice = example(None, instance("twice", "TwiceV100", 0.1))
    option = advice.option("twice")
    errors = np.abs(np.log(advice.draws[option.draws] / option.latency_ms))
    spread = sheet_spreads(Bundle.load())["target", True]
    assert len(spread.instances) == 4
    assert np.median(errors) == pytest.approx(0.741 * spread.size, rel=0.1)  # the median of |t| of 4 GPUs
    assert np.quantile(errors, 0.99) > 5 * np.median(errors)  # 6.2 times; of normal errors 3.8


def test_without_a_measured_error_a_data_sheet_gives_a_figure_and_no_interval(tmp_path: Path) -> None:
    manifest, arrays = Bundle.load().contents()
    path = tmp_path / "plain.profet"
    kept = {name: array for name, array in arrays.items() if not name.startswith("parts/data_sheets/")}
    parts = {name: part for name, part in manifest.parts.items() if name != "data_sheets"}
    path.write_bytes(pack(asdict(replace(manifest, parts=parts)), kept))
    known = catalogue(instance("twice", "TwiceV100", 0.1))
    option = advise(example_profile(), RUN, bundle=Bundle.load(path), catalogue=known, today=TODAY).option("twice")
    assert option.latency_ms > 0
    assert (option.hours_low, option.hours_high, option.p_cheapest) == (None, None, None)
