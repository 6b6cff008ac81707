"""Advice as a whole, on the shipped predictors and on made-up ones."""

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profet.advice.advice import Demands
from profet.advice.advise import advise
from profet.advice.training_run import TrainingRun
from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.training import train
from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import predict
from profet.profiles.example import example_profile
from tests.advice.machines_made_up import RUN, TODAY, catalogue, example, instance


def test_every_known_instance_is_an_option_and_the_anchor_as_it_was_measured() -> None:
    advice = example()
    assert {option.target: option.basis for option in advice.options} == {
        "g3s.xlarge": "measured",
        "g4dn.xlarge": "predicted",
        "g5.xlarge": "converted",
        "p2.xlarge": "predicted",
        "p3.2xlarge": "predicted",
    }
    assert advice.option("g3s.xlarge").latency_ms == example_profile().step_latency_ms
    predicted = {each.target: each for each in predict(example_profile()).predictions}
    for name, each in predicted.items():
        option = advice.option(name)
        assert (option.latency_ms, option.latency_low_ms) == (each.latency_ms, each.low_ms)
        assert option.hours_high == RUN.hours(each.high_ms or 0)
        if name == "g5.xlarge":  # which this catalogue does not know
            assert option.cost is option.price_per_hour is None
        else:
            assert option.cost == pytest.approx(option.hours * (option.price_per_hour or 0))


def test_chances_agree_with_the_calibrated_interval() -> None:
    middle = example().option("p3.2xlarge")
    assert middle.hours_low is not None
    assert middle.hours_high is not None
    early = example(Demands(deadline_hours=middle.hours_low)).option("p3.2xlarge")
    late = example(Demands(deadline_hours=middle.hours_high)).option("p3.2xlarge")
    assert early.p_deadline == pytest.approx(0.05, abs=0.02)
    assert late.p_deadline == pytest.approx(0.95, abs=0.02)


def test_a_deadline_makes_the_faster_one_worth_its_price() -> None:
    assert example().recommended == "g4dn.xlarge"
    hurried = example(Demands(deadline_hours=200))
    assert hurried.recommended == "p3.2xlarge"
    assert hurried.next is None
    assert hurried.option("g4dn.xlarge").p_deadline == 0
    hopeless = example(Demands(deadline_hours=1))
    assert hopeless.recommended is None
    assert hopeless.nearest == "p3.2xlarge"


def test_equal_prices_per_step_leave_it_open_which_is_cheaper() -> None:
    free = example()
    ratio = free.option("g4dn.xlarge").latency_ms / free.option("p3.2xlarge").latency_ms
    even = replace_price(catalogue(), "p3.2xlarge", 0.5 * ratio * 1.005)
    advice = advise(example_profile(), RUN, catalogue=even, today=TODAY)
    assert advice.recommended == "g4dn.xlarge"
    assert advice.next == "p3.2xlarge"
    assert advice.p_cheaper_than_next is not None
    assert 0.5 < advice.p_cheaper_than_next < 0.75


def replace_price(known: Catalogue, name: str, price: float) -> Catalogue:
    changed = instance(name, known.instances[name].gpu or "", price)
    return replace(known, instances={**known.instances, name: changed})


def test_a_region_keeps_only_what_has_a_price_there() -> None:
    advice = example(Demands(region="here"))
    assert [option.target for option in advice.options] == ["p3.2xlarge"]
    assert any(
        "4 with no price in here, g3s.xlarge, g4dn.xlarge, g5.xlarge and 1 more among" in text
        for text in advice.warnings
    )
    with pytest.raises(InputError, match=r"region 'her'.*nearest: here"):
        example(Demands(region="her"))


def test_an_instance_without_a_price_has_a_time_and_no_cost() -> None:
    own = example(None, instance("own-box", "T4", None)).option("own-box")
    assert own.hours > 0
    assert own.cost is None
    spot = example(Demands(spot=True))
    assert all(option.cost is None for option in spot.options)
    assert spot.recommended == "p3.2xlarge"  # the fastest, as no price is known
    assert any("interruptions" in text for text in spot.warnings)


def test_old_prices_are_said_to_be_old() -> None:
    advice = advise(example_profile(), RUN, catalogue=catalogue(), today=datetime.date(2027, 10, 1))
    assert any("of 2026-10-01: old" in text for text in advice.warnings)
    assert not any("prices to check" in text for text in example().warnings)


def test_a_run_of_another_batch_size_than_the_profile_is_refused() -> None:
    with pytest.raises(InputError, match="the profile is of batch size 16, the run of 32"):
        example(run=TrainingRun(1000, 1, 32))


@pytest.mark.parametrize(
    ("demanded", "words"),
    [
        ({"currency": "XYZ"}, "currency 'XYZ' is unknown"),
        ({"currency": "eur"}, "write it as 'EUR'"),
        ({"confidence": 1.0}, "confidence of 1"),
        ({"interval": 0.0}, "interval of 0"),
        ({"deadline_hours": -1.0}, "deadline_hours of -1"),
        ({"deadline_hours": float("nan")}, "deadline_hours of nan"),
        ({"budget": 0.0}, "budget of 0"),
        ({"budget": float("inf")}, "budget of inf"),
        ({"scaling": (0.0, 0.9)}, "scaling of 0 to 0.9"),
        ({"scaling": (0.9, 0.8)}, "scaling of 0.9 to 0.8"),
        ({"scaling": (0.9, 1.1)}, "scaling of 0.9 to 1.1"),
    ],
)
def test_demands_that_are_none_are_refused(demanded: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Demands(**demanded)


def test_prices_in_another_currency_are_not_converted() -> None:
    advice = example(Demands(currency="EUR"), instance("in-euro", "T4", 0.4, currency="EUR"))
    assert advice.option("in-euro").cost is not None
    assert advice.option("g4dn.xlarge").cost is None


def test_a_target_that_nobody_knows_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"target 'g4dn' is unknown; nearest: g4dn.xlarge"):
        advise(example_profile(), RUN, catalogue=catalogue(), targets=["g4dn"])


def test_a_bundle_without_measured_errors_gives_figures_and_no_chances(
    small_dataset: Dataset, tmp_path: Path
) -> None:
    train(small_dataset, "published", measured=False).save(tmp_path / "plain.profet")
    rows = small_dataset.runs.index[small_dataset.runs["instance"] == "a.large"][:1]
    arrays = small_dataset.profile_arrays(rows.to_numpy())
    profile = replace_times(dict(zip(arrays.device_ops, arrays.device_us[0], strict=True)))
    advice = advise(
        profile,
        TrainingRun(1000, 1, 16),
        Demands(deadline_hours=1000),
        bundle=Bundle.load(tmp_path / "plain.profet"),
        catalogue=catalogue(),
        anchor="a.large",
        anchor_latency_ms=float(arrays.step_latency_ms[0]),
    )
    assert advice.recommended is not None
    assert all(option.p_deadline is None and option.hours_low is None for option in advice.options)
    assert any("no chance to tell" in text for text in advice.warnings)


def replace_times(device_us: dict[str, float]):  # type: ignore[no-untyped-def]
    from profet.profiles.profile import Profile

    return Profile(framework="tensorflow", steps=2, device_us=device_us, host_us={"Dataset": 100.0})
