"""VGG (Simonyan and Zisserman 2014), without batch norm, at any image size."""

from torch import nn

from profet.zoo.heads import with_head

_WIDTHS = (64, 128, 256, 512, 512)
_CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
_UNITS = 4096


def vgg(layers: int, pixels: int, classes: int) -> nn.Module:
    """Return VGG with so many layers: 11, 13, 16 or 19."""
    features: list[nn.Module] = []
    channels = 3
    for width, count in zip(_WIDTHS, _CONVOLUTIONS[layers], strict=True):
        for _ in range(count):
            features += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
        features.append(nn.MaxPool2d(2))
    return with_head(nn.Sequential(*features), pixels, (_UNITS, nn.ReLU(), _UNITS, nn.ReLU(), classes))
