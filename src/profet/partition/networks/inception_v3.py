"""Inception v3 (Szegedy et al. 2016) without its auxiliary classifier, which only training uses."""

from profet.partition.networks.graph_builder import Features, GraphBuilder

Branch = tuple[tuple[int, int | tuple[int, int]], ...]
"""Convolutions one after the other: channels, and the kernel's size or height and width."""

_ROW, _COLUMN = (1, 7), (7, 1)


def inception_v3(net: GraphBuilder) -> Features:
    """Build the network for images of 299 pixels."""
    features = _stem(net)
    for pooled in (32, 64, 64):
        features = _module(net, features, (((64, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3))), pooled)
    features = _reduction(net, features, (), 384, ((64, 1), (96, 3)), 96)
    for width in (128, 160, 160, 192):
        middle: Branch = ((width, 1), (width, _ROW), (192, _COLUMN))
        long: Branch = ((width, 1), (width, _COLUMN), (width, _ROW), (width, _COLUMN), (192, _ROW))
        features = _module(net, features, (((192, 1),), middle, long), 192)
    features = _reduction(net, features, ((192, 1),), 320, ((192, 1), (192, _ROW), (192, _COLUMN)), 192)
    for _ in range(2):
        features = _wide_module(net, features)
    return net.linear(net.global_average(features))


def _stem(net: GraphBuilder) -> Features:
    features = net.convolution(net.images, 32, 3, stride=2, pad=0)
    features = net.convolution(features, 32, 3, pad=0)
    features = net.max_pool(net.convolution(features, 64, 3), 3, 2)
    features = net.convolution(net.convolution(features, 80, 1), 192, 3, pad=0)
    return net.max_pool(features, 3, 2)


def _chain(net: GraphBuilder, features: Features, branch: Branch) -> Features:
    for channels, kernel in branch:
        features = net.convolution(features, channels, kernel)
    return features


def _pooled(net: GraphBuilder, features: Features, channels: int) -> Features:
    return net.convolution(net.average_pool(features, 3, 1, pad=1), channels, 1)


def _module(net: GraphBuilder, features: Features, branches: tuple[Branch, ...], pooled: int) -> Features:
    return net.concatenate([*(_chain(net, features, each) for each in branches), _pooled(net, features, pooled)])


def _reduction(
    net: GraphBuilder, features: Features, first: Branch, channels: int, second: Branch, other_channels: int
) -> Features:
    """Halve height and width: two branches that end in a convolution of stride 2, and a pooling."""
    halves = [
        net.convolution(_chain(net, features, branch), last, 3, stride=2, pad=0)
        for branch, last in ((first, channels), (second, other_channels))
    ]
    return net.concatenate([*halves, net.max_pool(features, 3, 2)])


def _wide_module(net: GraphBuilder, features: Features) -> Features:
    parts = [net.convolution(features, 320, 1)]
    branches: tuple[Branch, ...] = (((384, 1),), ((448, 1), (384, 3)))
    for branch in branches:
        end = _chain(net, features, branch)
        parts += [net.convolution(end, 384, kernel) for kernel in ((1, 3), (3, 1))]
    return net.concatenate([*parts, _pooled(net, features, 192)])
