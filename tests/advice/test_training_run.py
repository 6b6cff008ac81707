"""A whole run: how many steps, how many hours."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.advice.training_run import TrainingRun
from profet.errors import InputError


def test_a_run_is_its_steps_and_what_stands_beside_them() -> None:
    run = TrainingRun(1000, 3, 16, startup_s=600, first_epoch_s=120, validation_share=0.1)
    assert run.steps() == 3 * 63  # the last batch of an epoch is not full, and is a step all the same
    assert run.hours(200.0) == pytest.approx((189 * 0.2 * 1.1 + 720) / 3600)


@given(
    samples=st.integers(1, 10**8),
    epochs=st.integers(1, 500),
    batch=st.integers(1, 4096),
    gpus=st.integers(1, 16),
    latency_ms=st.floats(0.1, 1e5),
)
def test_more_gpus_never_take_more_steps_and_every_sample_is_seen(
    samples: int, epochs: int, batch: int, gpus: int, latency_ms: float
) -> None:
    if samples < batch:
        return
    run = TrainingRun(samples, epochs, batch, 0, 0, 0)
    assert run.steps(gpus) <= run.steps()
    assert run.steps(gpus) * batch * gpus >= epochs * samples
    assert run.steps(gpus) == epochs * math.ceil(samples / (batch * gpus))
    assert run.hours(2 * latency_ms, gpus) == pytest.approx(2 * run.hours(latency_ms, gpus))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": 15}, "fewer than one batch of 16"),
        ({"epochs": 0}, "epochs of 0"),
        ({"batch_size": 0}, "batch size of 0"),
        ({"startup_s": -1.0}, "startup_s of -1"),
        ({"first_epoch_s": math.nan}, "first_epoch_s of nan"),
        ({"validation_share": math.inf}, "validation_share of inf"),
    ],
)
def test_a_run_that_is_none_is_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        TrainingRun(**{"samples": 1000, "epochs": 1, "batch_size": 16, **change})
