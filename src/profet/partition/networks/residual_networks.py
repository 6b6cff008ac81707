"""ResNet-18, -34 and -50 (He et al. 2016) and DenseNet-121 (Huang et al. 2017)."""

from profet.partition.networks.graph_builder import Features, GraphBuilder

_RESIDUAL_GAIN = 0.3
"""Of the last weights of a residual branch: without it, the variance would double with every block."""


def resnet(net: GraphBuilder, blocks: tuple[int, int, int, int], bottleneck: bool) -> Features:
    """Build a residual network.

    Args:
        net: to build in.
        blocks: in each of the four stages.
        bottleneck: blocks of 1x1, 3x3 and 1x1 convolutions instead of two of 3x3.
    """
    features = net.max_pool(net.convolution(net.images, 64, 7, stride=2), 3, 2, pad=1)
    block = _bottleneck_block if bottleneck else _basic_block
    for stage, count in enumerate(blocks):
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            features = block(net, features, 64 * 2**stage, stride)
    return net.linear(net.global_average(features))


def _basic_block(net: GraphBuilder, features: Features, width: int, stride: int) -> Features:
    branch = net.convolution(features, width, 3, stride)
    branch = net.convolution(branch, width, 3, relu=False, gain=_RESIDUAL_GAIN)
    return net.add(branch, _shortcut(net, features, width, stride))


def _bottleneck_block(net: GraphBuilder, features: Features, width: int, stride: int) -> Features:
    branch = net.convolution(features, width, 1)
    branch = net.convolution(branch, width, 3, stride)
    branch = net.convolution(branch, 4 * width, 1, relu=False, gain=_RESIDUAL_GAIN)
    return net.add(branch, _shortcut(net, features, 4 * width, stride))


def _shortcut(net: GraphBuilder, features: Features, channels: int, stride: int) -> Features:
    if stride == 1 and features.channels == channels:
        return features
    return net.convolution(features, channels, 1, stride, relu=False, gain=0.5**0.5)


def densenet(net: GraphBuilder, blocks: tuple[int, ...], growth: int) -> Features:
    """Build a densely connected network with bottleneck layers and halving transitions.

    Args:
        net: to build in.
        blocks: layers in each block.
        growth: channels that each layer adds.
    """
    features = net.max_pool(net.convolution(net.images, 2 * growth, 7, stride=2), 3, 2, pad=1)
    for index, layers in enumerate(blocks):
        if index > 0:
            halved = net.convolution(
                net.batch_normalization(features), features.channels // 2, 1, relu=False, bias=False
            )
            features = net.average_pool(halved, 2, 2)
        for _ in range(layers):
            narrow = net.convolution(net.batch_normalization(features), 4 * growth, 1)
            added = net.convolution(narrow, growth, 3, relu=False, bias=False)
            features = net.concatenate([features, added])
    return net.linear(net.global_average(net.batch_normalization(features)))
