"""What the truth may be: draws that say the same as intervals, and belong together where errors do."""

from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from profet.advice.advice import Demands
from profet.advice.latencies import known_latencies
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.bundle_file import joint_prefix
from profet.predictors.prediction import predict
from profet.profiles.example import example_profile
from tests.advice.machines_made_up import example, instance

ANCHOR = "g3s.xlarge"


@pytest.mark.parametrize("interval", [0.5, 0.9])
def test_draws_lie_inside_an_interval_as_often_as_it_says(interval: float) -> None:
    more = (
        instance("elsewhere", "T4", 0.2),
        instance("from a sheet", "TwiceV100", 0.1),
        instance("four", "V100", 12.0, gpus=4),
    )
    advice = example(Demands(interval=interval, scaling=(0.7, 0.9)), *more)
    assert {option.basis for option in advice.options} == {"measured", "predicted", "converted", "extrapolated"}
    for option in advice.options:
        drawn = advice.draws[option.draws]
        assert option.latency_low_ms is not None
        assert option.latency_high_ms is not None
        inside = (drawn >= option.latency_low_ms) & (drawn <= option.latency_high_ms)
        assert inside.mean() == pytest.approx(interval, abs=0.03), option.target


@pytest.mark.parametrize("latency_ms", [None, 263.481])
def test_errors_are_those_measured_with_the_anchors_latency_or_without_as_here(latency_ms: float | None) -> None:
    bundle = Bundle.load()
    profile = msgspec.structs.replace(example_profile(), step_latency_ms=None)
    prediction = predict(profile, bundle, anchor=ANCHOR, anchor_latency_ms=latency_ms)
    known = known_latencies(prediction, bundle, 0.9)
    assert (ANCHOR in known) == (latency_ms is not None)
    joint = bundle.joint_errors(ANCHOR, latency_ms is not None)
    assert joint is not None
    together = [each for each in prediction.predictions if each.target in joint.targets]
    assert len(together) == 3
    for each in together:
        assert each.card.expected_log_error is not None
        logs = np.log(known[each.target].draws_ms / each.latency_ms) / each.card.expected_log_error
        scores = joint.scores[:, joint.targets.index(each.target)]
        np.testing.assert_allclose(logs, [*scores, *-scores], atol=1e-9)


def test_targets_measured_on_other_runs_err_independently(tmp_path: Path) -> None:
    manifest, arrays = Bundle.load().contents()
    entries = []
    for entry in manifest.joint:
        name = joint_prefix(entry) + "scores"
        kept = [place for place, target in enumerate(entry.targets) if target in {ANCHOR, "g4dn.xlarge"}]
        arrays[name] = arrays[name][:, kept]
        entries.append(replace(entry, targets=[entry.targets[place] for place in kept]))
    path = tmp_path / "apart.profet"
    path.write_bytes(pack(asdict(replace(manifest, joint=entries)), arrays))
    bundle = Bundle.load(path)
    prediction = predict(example_profile(), bundle)
    known = known_latencies(prediction, bundle, 0.9)
    logs = {each.target: np.log(known[each.target].draws_ms / each.latency_ms) for each in prediction.predictions}
    assert len({len(each) for each in logs.values()}) == 1
    assert np.abs(np.corrcoef(list(logs.values())) - np.eye(4)).max() < 0.1
    for each in prediction.predictions:
        assert np.mean(logs[each.target] > 0) == pytest.approx(0.5, abs=0.01)
        half_width = np.log(each.high_ms / each.latency_ms)
        assert np.mean(np.abs(logs[each.target]) <= half_width) == pytest.approx(0.9, abs=0.02)
