"""Where a step ends in loops that do not say so: gradients that add up, several optimizers, mixed precision."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from profet import read_profile
from profet.capture.torch import OptimizerStepProfiler
from profet.capture.torch.optimizer_steps import Rounds
from tests.capture.conftest import SHORT, SHORT_STEPS
from tests.capture.loops import BATCH, PIXELS, batches, small_cnn, train


@given(st.lists(st.integers(1, 4), max_size=4), st.integers(0, 4), st.integers(1, 6))
def test_a_step_ends_once_in_every_round_of_all_optimizers(others: list[int], place: int, warm_up: int) -> None:
    """Optimizers that step so many times in each round, and among them one that steps once."""
    often = [*others[:place], 1, *others[place:]]
    rounds = Rounds(warm_up)
    sequence = [number for number, times in enumerate(often) for _ in range(times)]
    ends = [[rounds.ends_step(each) for each in sequence] for _ in range(warm_up + 6)]
    assert [sum(one) for one in ends[-2:]] == [1, 1]
    assert len(rounds.counts) == len(often)


def test_an_optimizer_that_was_tried_once_does_not_hold_the_capture_up() -> None:
    rounds = Rounds(3)
    rounds.ends_step(7)
    ends = [rounds.ends_step(1) for _ in range(1500)]
    assert rounds.leader == 1
    assert all(ends[-100:])


def test_gradients_that_add_up_make_one_step(tmp_path: Path) -> None:
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        train(SHORT_STEPS, micro_batches=4)
    profile = read_profile(tmp_path / "p.json")
    assert profile.batch_size == 4 * BATCH
    assert profile.pixels == PIXELS
    assert profile.device_calls["aten::conv2d"] == 4 * 2
    assert not [each for each in profile.warnings if "micro-batches" in each]


def test_a_generator_and_its_critic_are_one_step(tmp_path: Path) -> None:
    critic, generator = small_cnn(), nn.ConvTranspose2d(2, 3, 4, 2, 1)
    optimizers = [torch.optim.Adam(each.parameters()) for each in (critic, generator)]
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        for _ in range(SHORT_STEPS):
            for optimizer in (optimizers[0], *optimizers):
                optimizer.zero_grad()
                critic(generator(torch.rand(BATCH, 2, 10, 10))).mean().backward()
                optimizer.step()
    profile = read_profile(tmp_path / "p.json")
    assert profile.device_calls["aten::conv_transpose2d"] == 3
    assert profile.batch_size is None  # of which of the three batches?
    assert any("2 optimizers: a step is taken to end with the Adam that steps least" in w for w in profile.warnings)


def test_what_is_told_of_several_optimizers_does_not_name_those_of_the_user(tmp_path: Path) -> None:
    class SecretOptimizer(torch.optim.SGD):
        pass

    nets = small_cnn(), small_cnn()
    optimizers = [SecretOptimizer(net.parameters(), lr=0.01) for net in nets]
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        for _ in range(SHORT_STEPS):
            for net, optimizer in zip(nets, optimizers, strict=True):
                train(1, net=net, optimizer=optimizer)
    profile = read_profile(tmp_path / "p.json")
    assert any("2 optimizers: a step is taken to end with the one that steps" in each for each in profile.warnings)
    assert "secret" not in (tmp_path / "p.json").read_text().lower()


def test_another_training_in_the_same_process_starts_the_capture_again(tmp_path: Path) -> None:
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        train(6)  # a search for the learning rate, say
        train(SHORT_STEPS, micro_batches=2)
    assert read_profile(tmp_path / "p.json").batch_size == 2 * BATCH


def test_mixed_precision_and_channels_last_are_captured(tmp_path: Path) -> None:
    net = small_cnn().to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cpu")
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        for images, labels in batches(SHORT_STEPS + 3):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = nn.functional.cross_entropy(net(images.to(memory_format=torch.channels_last)), labels)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    profile = read_profile(tmp_path / "p.json")
    assert (profile.batch_size, profile.pixels) == (BATCH, PIXELS)
    assert profile.device_calls["aten::convolution"] == 2


def test_a_hook_of_the_users_own_is_not_disturbed(tmp_path: Path) -> None:
    seen = []
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        handle = register_optimizer_step_post_hook(lambda *_: seen.append(1))
        train(SHORT_STEPS + 2)
        handle.remove()
    assert len(seen) == SHORT_STEPS + 2


def test_images_that_are_no_squares_have_no_width(tmp_path: Path) -> None:
    net = small_cnn()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with OptimizerStepProfiler(tmp_path / "p.json", **SHORT):
        for _ in range(SHORT_STEPS):
            net(torch.rand(BATCH, 3, 20, 24)).sum().backward()
            optimizer.step()
    profile = read_profile(tmp_path / "p.json")
    assert (profile.batch_size, profile.pixels) == (BATCH, None)


@pytest.mark.parametrize("sizes", [(1, 2), (3, 4)])
def test_what_the_user_says_wins_over_what_was_seen(tmp_path: Path, sizes: tuple[int, int]) -> None:
    with OptimizerStepProfiler(tmp_path / "p.json", batch_size=sizes[0], pixels=sizes[1], **SHORT):
        train(SHORT_STEPS)
    profile = read_profile(tmp_path / "p.json")
    assert (profile.batch_size, profile.pixels) == sizes
