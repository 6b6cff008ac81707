"""Every backend gives the outputs that ONNX Runtime gives, so that shares of one batch fit together."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from profet.partition.backends.protocol import UnitError
from profet.partition.backends.registry import backend
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network
from profet.partition.units import parse_unit
from tests.partition.backends.runs import assert_close, images_of, outputs_of, outputs_on
from tests.partition.small_models import small_classifier

REFERENCE = "onnxruntime:cpu:threads=1"
OTHERS = ["openvino:cpu:threads=1", "torch:cpu:threads=1"]
ALL = [REFERENCE, *OTHERS]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return find_network(str(small_classifier(tmp_path_factory.mktemp("small") / "small.onnx")))


@pytest.fixture(scope="module", params=["mobilenet", "squeezenet_v1.0"])
def known(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Network:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROFET_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return find_network(request.param)


@pytest.mark.parametrize("unit", OTHERS)
@pytest.mark.parametrize("batch", [1, 3])
def test_known_networks_come_out_the_same(known: Network, unit: str, batch: int) -> None:
    images = images_of(known, batch)

    assert_close(outputs_on(unit, known, images), outputs_on(REFERENCE, known, images))


@pytest.mark.parametrize("unit", OTHERS)
@pytest.mark.parametrize("batch", [1, 2, 5])
def test_all_outputs_of_a_file_come_out_the_same(small: Network, unit: str, batch: int) -> None:
    images = images_of(small, batch)

    assert_close(outputs_on(unit, small, images), outputs_on(REFERENCE, small, images))


@pytest.mark.parametrize("unit", ALL)
def test_images_of_a_batch_do_not_touch_each_other(known: Network, unit: str) -> None:
    images = images_of(known, 3)
    together = outputs_on(unit, known, images)[0]
    alone = np.concatenate([outputs_on(unit, known, images[place : place + 1])[0] for place in range(3)])

    assert_close([together], [alone])
    assert np.abs(together[0] - together[1]).max() > 1e-3 * np.abs(together).max()


@pytest.mark.parametrize("unit", ALL)
def test_results_land_in_the_part_of_the_array_that_was_given(small: Network, unit: str) -> None:
    images, whole = images_of(small, 4), outputs_of(small, 4)
    expected = outputs_on(REFERENCE, small, images)
    parsed = parse_unit(unit)
    runner = backend(parsed.backend).load(small, parsed)

    runner.run(images[1:3], [array[1:3] for array in whole])

    assert_close([array[1:3] for array in whole], [array[1:3] for array in expected])
    assert all((array[[0, 3]] == 77).all() for array in whole)


@pytest.mark.parametrize("unit", ALL)
def test_images_may_be_read_only(small: Network, unit: str) -> None:
    images = images_of(small, 2)
    expected = outputs_on(REFERENCE, small, images)
    images.flags.writeable = False

    assert_close(outputs_on(unit, small, images), expected)


@pytest.mark.parametrize("unit", ALL)
def test_batches_of_any_size_follow_each_other(small: Network, unit: str) -> None:
    images = images_of(small, 6)
    expected = outputs_on(REFERENCE, small, images)
    parsed = parse_unit(unit)
    runner = backend(parsed.backend).load(small, parsed)

    for size in (6, 1, 4, 6, 2):
        found = outputs_of(small, size)
        runner.run(images[:size], found)
        assert_close(found, [array[:size] for array in expected])


@pytest.mark.parametrize(
    ("unit", "tolerance"), [("torch:cpu:precision=f16", 5e-3), ("torch:cpu:precision=bf16", 5e-2)]
)
def test_less_precision_gives_nearly_the_same(small: Network, unit: str, tolerance: float) -> None:
    images = images_of(small, 2)
    exact = outputs_on(REFERENCE, small, images)
    found = outputs_on(unit, small, images)

    assert_close(found, exact, tolerance)
    assert any((one != other).any() for one, other in zip(found, exact, strict=True))


def test_openvino_computes_in_f32_unless_asked(small: Network) -> None:
    images = images_of(small, 2)

    assert_close(outputs_on("openvino:cpu", small, images), outputs_on(REFERENCE, small, images), 1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_file_exported_by_pytorch_as_we_advise_gives_what_pytorch_gives(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(), nn.Linear(8, 5), nn.Softmax(1)).eval()
    axes = {"images": {0: "batch"}, "scores": {0: "batch"}}
    names = {"input_names": ["images"], "output_names": ["scores"]}
    path = tmp_path / "model.onnx"
    torch.onnx.export(model, torch.rand(1, 3, 9, 9), path, dynamic_axes=axes, dynamo=False, **names)
    network = find_network(str(path))
    images = images_of(network, 3)
    with torch.inference_mode():
        expected = model(torch.from_numpy(images)).numpy()

    for unit in ALL:
        assert_close(outputs_on(unit, network, images), [expected])


@pytest.mark.parametrize("precision", ["f16", "bf16"])
def test_openvino_computes_in_what_was_asked_or_refuses(small: Network, precision: str) -> None:
    """Not every processor has every type, and OpenVINO itself falls back to f32 without a word."""
    images = images_of(small, 2)
    exact = outputs_on("openvino:cpu", small, images)
    refusal, found = "", exact
    try:
        found = outputs_on(f"openvino:cpu:precision={precision}", small, images)
    except UnitError as error:
        refusal = str(error)

    differs = any((one != other).any() for one, other in zip(found, exact, strict=True))
    assert differs or f"not in {precision}" in refusal


@pytest.mark.parametrize("unit", ALL)
def test_images_of_another_shape_are_one_clear_error(small: Network, unit: str) -> None:
    parsed = parse_unit(unit)
    runner = backend(parsed.backend).load(small, parsed)

    with pytest.raises(UnitError) as caught:
        runner.run(np.zeros((2, 4, 8, 8), np.float32), outputs_of(small, 2))

    assert str(caught.value).startswith(unit)
    assert "\n" not in str(caught.value)
