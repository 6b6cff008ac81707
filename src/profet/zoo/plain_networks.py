"""Networks without branches: LeNet5, AlexNet (as trained for the published data) and Keras's examples."""

from torch import nn

from profet.zoo.heads import with_head

_ALEXNET_WIDTHS = (96, 256, 512, 1024, 1024)


def lenet5(pixels: int, classes: int) -> nn.Module:
    """Two convolutions and three fully connected layers (LeCun et al. 1998), with ReLU and maximum pooling."""
    features = nn.Sequential(
        *(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
    )
    return with_head(features, pixels, (120, nn.ReLU(), 84, nn.ReLU(), classes))


def mnist_cnn(pixels: int, classes: int) -> nn.Module:
    """Keras's example for MNIST: two convolutions with pooling, dropout, one fully connected layer."""
    features = nn.Sequential(
        *(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)),
    )
    return with_head(features, pixels, (nn.Dropout(0.5), classes))


def cifar10_cnn(pixels: int, classes: int) -> nn.Module:
    """Keras's example for CIFAR-10: two pairs of convolutions, dropout, two fully connected layers."""
    features = nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Dropout(0.25)),
        *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU()),
        *(nn.MaxPool2d(2), nn.Dropout(0.25)),
    )
    return with_head(features, pixels, (512, nn.ReLU(), nn.Dropout(0.5), classes))


def alexnet(pixels: int, classes: int) -> nn.Module:
    """AlexNet for images of any size (after Krizhevsky et al. 2012): stride 1, batch norm, five convolutions."""
    first, second, third, fourth, fifth = _ALEXNET_WIDTHS
    features = nn.Sequential(
        *(nn.Conv2d(3, first, 11, padding=5), nn.BatchNorm2d(first), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(first, second, 5, padding=2), nn.BatchNorm2d(second), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.ZeroPad2d(1), nn.Conv2d(second, third, 3, padding=1), nn.BatchNorm2d(third)),
        *(nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.ZeroPad2d(1), nn.Conv2d(third, fourth, 3, padding=1), nn.BatchNorm2d(fourth), nn.ReLU()),
        *(nn.ZeroPad2d(1), nn.Conv2d(fourth, fifth, 3, padding=1), nn.BatchNorm2d(fifth)),
        *(nn.ReLU(), nn.MaxPool2d(2)),
    )
    return with_head(features, pixels, (3072, nn.ReLU(), 4096, nn.ReLU(), classes))
