"""Two ranks with unequal batches over gloo: every gradient is that of the whole batch in one process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra torch is not installed")

from torch import nn  # noqa: E402

from profet.errors import InputError  # noqa: E402
from profet.partition.training.gradients import first_size  # noqa: E402
from profet.partition.training.sampler import UnequalBatchSampler  # noqa: E402
from tests.partition.training.two_ranks import BATCHES, SAMPLES, gradients, network, samples  # noqa: E402


def in_one_process(accumulate: int) -> list[np.ndarray]:
    """The gradients of the same steps on the whole global batch, without any weighting."""
    model, data = network(), samples()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ranks = [UnequalBatchSampler(SAMPLES, BATCHES, r, drop_last=accumulate > 1) for r in range(len(BATCHES))]
    kept = []
    for epoch in range(2):
        for sampler in ranks:
            sampler.set_epoch(epoch)
        for number, parts in enumerate(zip(*ranks, strict=True), 1):
            images, classes = data[[index for part in parts for index in part]]
            (nn.functional.cross_entropy(model(images), classes) / accumulate).backward()
            if number % accumulate == 0:
                kept.append(gradients(model))
                optimizer.step()
                optimizer.zero_grad()
    return kept


@pytest.mark.parametrize("accumulate", [1, 3])
def test_gradients_are_those_of_one_process_on_the_whole_batch(tmp_path: Path, accumulate: int) -> None:
    outputs = [tmp_path / f"rank{rank}.npz" for rank in range(len(BATCHES))]
    command = [sys.executable, "-m", "tests.partition.training.two_ranks"]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store"), str(output), str(accumulate)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank, output in enumerate(outputs)
    ]
    told = [each.communicate(timeout=300)[1] for each in ranks]
    assert [each.returncode for each in ranks] == [0, 0], told
    expected = in_one_process(accumulate)
    assert len(expected) == (8 if accumulate == 1 else 2)
    for output in outputs:
        with np.load(output) as kept:
            assert len(kept.files) == len(expected)
            for found, wanted in zip((kept[name] for name in kept.files), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_samples_are_counted_wherever_the_first_tensor_is() -> None:
    batch = torch.zeros(6, 3)
    assert first_size((batch,), {}) == 6
    assert first_size(({"scale": torch.tensor(1.0), "images": [batch]},), {}) == 6
    assert first_size((), {"images": batch}) == 6
    with pytest.raises(InputError, match="samples_of="):
        first_size(("text", 3), {})
