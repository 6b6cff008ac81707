"""Fully connected ends of networks, as wide as the images make them."""

import torch
from torch import nn

_CHANNELS = 3


def with_head(features: nn.Sequential, pixels: int, head: tuple[nn.Module | int, ...]) -> nn.Sequential:
    """Put fully connected layers behind convolutional ones.

    Args:
        features: from images with three channels to maps.
        pixels: width and height of the images.
        head: layers in their order; a number stands for a fully connected one of so many units.
    """
    features.eval()
    with torch.no_grad():
        width = features(torch.zeros(1, _CHANNELS, pixels, pixels)).numel()
    features.train()
    layers: list[nn.Module] = [nn.Flatten()]
    for each in head:
        if isinstance(each, int):
            layers.append(nn.Linear(width, each))
            width = each
        else:
            layers.append(each)
    return nn.Sequential(*features, *layers)
