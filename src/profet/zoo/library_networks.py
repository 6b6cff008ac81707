"""Networks that the library pytorchcv has; their last pooling takes maps of any size."""

from typing import Any

from torch import nn

_LIBRARY_NAMES = {
    "ResNet18": "resnet18",
    "ResNet34": "resnet34",
    "ResNet50": "resnet50",
    "InceptionV3": "inceptionv3",
    "InceptionResNetV2": "inceptionresnetv2",
    "MobileNetV2": "mobilenetv2_w1",
}
_SMALL = "ResNetSmall"
_SMALL_WIDTHS = (16, 32, 64)
_SMALL_UNITS = 3


def network(name: str, classes: int) -> nn.Module:
    """Return a network of the library, under its published name.

    ResNetSmall is ResNet-20 for CIFAR-10 (He et al. 2015).

    Raises:
        ModuleNotFoundError: pytorchcv is not installed.
    """
    net = _small(classes) if name == _SMALL else _of_library(_LIBRARY_NAMES[name], classes)
    net.features.final_pool = nn.AdaptiveAvgPool2d(1)
    return net


def _of_library(name: str, classes: int) -> Any:
    from pytorchcv.model_provider import get_model

    return get_model(name, pretrained=False, num_classes=classes)


def _small(classes: int) -> Any:
    from pytorchcv.models.resnet_cifar import CIFARResNet

    channels = [[width] * _SMALL_UNITS for width in _SMALL_WIDTHS]
    return CIFARResNet(
        channels=channels, init_block_channels=_SMALL_WIDTHS[0], bottleneck=False, num_classes=classes
    )
