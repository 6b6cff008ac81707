"""The networks of the published data: each learns a step at its smallest size."""

import sys

import pytest

from profet import zoo
from profet.errors import InputError, MissingExtraError

torch = pytest.importorskip("torch")
CLASSES, BATCH = 7, 2
ODD_CLASSES = 13
FROM_LIBRARY = (
    "ResNetSmall",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "InceptionV3",
    "InceptionResNetV2",
    "MobileNetV2",
)

MILLIONS = {
    "LeNet5": 0.06,
    "CIFAR10_CNN": 1.2,
    "ResNetSmall": 0.27,
    "ResNet18": 11.2,
    "ResNet34": 21.3,
    "ResNet50": 23.5,
    "InceptionV3": 21.8,
    "InceptionResNetV2": 54.3,
    "MobileNetV2": 2.2,
}
"""Weights in millions where they are known, with an end for seven classes (at 32 pixels where that matters)."""


@pytest.mark.parametrize("name", zoo.NAMES)
def test_each_network_learns_a_step_at_its_smallest_size(name: str) -> None:
    if name in FROM_LIBRARY:
        pytest.importorskip("pytorchcv", reason="the extra zoo is not installed")
    pixels = zoo.smallest_pixels(name)
    net = zoo.build(name, pixels, CLASSES)
    weights = sum(each.numel() for each in net.parameters()) / 1e6
    assert weights == pytest.approx(MILLIONS.get(name, weights), rel=0.1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    before = [each.detach().clone() for each in net.parameters()]
    scores = net(torch.rand(BATCH, 3, pixels, pixels))
    assert scores.shape == (BATCH, CLASSES)
    torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1])).backward()
    optimizer.step()
    pairs = zip(before, net.parameters(), strict=True)
    assert sum(bool((old != new).any()) for old, new in pairs) > 0.9 * len(before)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_each_network_takes_images_of_an_odd_size_and_an_odd_number_of_classes(name: str) -> None:
    if name in FROM_LIBRARY:
        pytest.importorskip("pytorchcv", reason="the extra zoo is not installed")
    smallest = zoo.smallest_pixels(name)
    pixels = smallest + 1 + smallest % 2
    net = zoo.build(name, pixels, ODD_CLASSES).eval()
    with torch.no_grad():
        assert net(torch.rand(1, 3, pixels, pixels)).shape == (1, ODD_CLASSES)


@pytest.mark.parametrize(("name", "pixels"), [("LeNet5", 45), ("VGG11", 48), ("MobileNetV2", 50)])
def test_a_network_takes_images_much_larger_than_its_smallest(name: str, pixels: int) -> None:
    if name in FROM_LIBRARY:
        pytest.importorskip("pytorchcv", reason="the extra zoo is not installed")
    net = zoo.build(name, pixels)
    assert net(torch.rand(BATCH, 3, pixels, pixels)).shape == (BATCH, 10)


def test_there_are_fifteen() -> None:
    assert len(set(zoo.NAMES)) == 15


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(InputError, match="VGG12: no such network; nearest: VGG11"):
        zoo.build("VGG12", 32)
    with pytest.raises(InputError, match="InceptionV3 at 64 pixels: takes 75 to"):
        zoo.build("InceptionV3", 64)
    with pytest.raises(InputError, match="LeNet5 with 1 classes"):
        zoo.build("LeNet5", 32, 1)


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [each for each in sys.modules if each.startswith("pytorchcv")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pytorchcv", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'profet-latency\[zoo\]'"):
        zoo.build("ResNet18", 32)
