"""VGG (Simonyan 2015), MobileNet v1 (Howard 2017) and SqueezeNet (Iandola 2016): layer after layer."""

from profet.partition.networks.graph_builder import Features, GraphBuilder


def vgg(net: GraphBuilder, blocks: tuple[int, ...]) -> Features:
    """Build a VGG network without batch normalisation; blocks tells the 3x3 convolutions before each pooling."""
    features = net.images
    for channels, convolutions in zip((64, 128, 256, 512, 512), blocks, strict=True):
        for _ in range(convolutions):
            features = net.convolution(features, channels, 3)
        features = net.max_pool(features, 2, 2)
    features = net.flatten(features, pixels=7)
    features = net.linear(net.linear(features, 4096, relu=True), 4096, relu=True)
    return net.linear(features)


_MOBILENET = (
    # Each depthwise convolution's stride, and the channels of the pointwise one behind it.
    *((1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512)),
    *((1, 512),) * 5,
    *((2, 1024), (1, 1024)),
)


def mobilenet(net: GraphBuilder) -> Features:
    """Build MobileNet v1 at full width."""
    features = net.convolution(net.images, 32, 3, stride=2)
    for stride, channels in _MOBILENET:
        features = net.convolution(features, features.channels, 3, stride, groups=features.channels)
        features = net.convolution(features, channels, 1)
    return net.linear(net.global_average(features))


def squeezenet_1_0(net: GraphBuilder) -> Features:
    """Build SqueezeNet 1.0."""
    features = net.convolution(net.images, 96, 7, stride=2, pad=0)
    return _fire_modules(net, features, pool_before=(0, 3, 7))


def squeezenet_1_1(net: GraphBuilder) -> Features:
    """Build SqueezeNet 1.1, which pools earlier and computes 2.4 times less."""
    features = net.convolution(net.images, 64, 3, stride=2, pad=0)
    return _fire_modules(net, features, pool_before=(0, 2, 4))


def _fire_modules(net: GraphBuilder, features: Features, pool_before: tuple[int, ...]) -> Features:
    for index, squeezed in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if index in pool_before:
            features = net.max_pool(features, 3, 2, ceil=True)
        narrow = net.convolution(features, squeezed, 1)
        wide = [net.convolution(narrow, 4 * squeezed, kernel) for kernel in (1, 3)]
        features = net.concatenate(wide)
    return net.global_average(net.convolution(features, 1000, 1))
