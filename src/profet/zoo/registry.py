"""The networks by their published names."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from profet.errors import InputError, MissingExtraError
from profet.names import suggest

if TYPE_CHECKING:
    from torch import nn

NAMES = (
    "LeNet5",
    "AlexNet",
    "MNIST_CNN",
    "CIFAR10_CNN",
    "VGG11",
    "VGG13",
    "VGG16",
    "VGG19",
    "ResNetSmall",
    "ResNet18",
    "ResNet34",
    "ResNet50",
    "InceptionV3",
    "InceptionResNetV2",
    "MobileNetV2",
)
"""In the order of the publication: small ones, then by family."""

_SMALLEST, _SMALLEST_INCEPTION = 32, 75
_LARGEST = 4096
_MOST_CLASSES = 100_000
_EXTRAS = {"torch": "torch", "pytorchcv": "zoo"}


def smallest_pixels(name: str) -> int:
    """Return the least width and height of images that a network takes.

    Raises:
        InputError: no such network.
    """
    _check_name(name)
    return _SMALLEST_INCEPTION if name.startswith("Inception") else _SMALLEST


def build(name: str, pixels: int, classes: int = 10) -> "nn.Module":
    """Build a network with random weights, ready to train.

    Args:
        name: one of NAMES.
        pixels: width and height of its images, which have three channels.
        classes: how many it tells apart.

    Returns:
        A module from images of shape (batch, 3, pixels, pixels) to scores of shape (batch, classes).

    Raises:
        InputError: no such network, or a size that it does not take.
        MissingExtraError: PyTorch or pytorchcv is not installed.
    """
    least = smallest_pixels(name)
    if not least <= pixels <= _LARGEST:
        raise InputError(f"{name} at {pixels} pixels: takes {least} to {_LARGEST}")
    if not 2 <= classes <= _MOST_CLASSES:
        raise InputError(f"{name} with {classes} classes: must be from 2 to {_MOST_CLASSES}")
    try:
        return _builder(name)(pixels, classes)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get(package := (error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise MissingExtraError(
            f"{name} needs {package}, which the extra {extra!r} brings: pip install 'profet-latency[{extra}]'"
        ) from None


def _check_name(name: str) -> None:
    if name not in NAMES:
        raise InputError(f"{name[:60]}: no such network; {suggest(name, NAMES)}")


def _builder(name: str) -> Callable[[int, int], "nn.Module"]:
    from profet.zoo import plain_networks, vgg

    own = {
        "LeNet5": plain_networks.lenet5,
        "AlexNet": plain_networks.alexnet,
        "MNIST_CNN": plain_networks.mnist_cnn,
        "CIFAR10_CNN": plain_networks.cifar10_cnn,
    }
    if name in own:
        return own[name]
    if name.startswith("VGG"):
        return lambda pixels, classes: vgg.vgg(int(name.removeprefix("VGG")), pixels, classes)
    from profet.zoo import library_networks

    return lambda _, classes: library_networks.network(name, classes)
