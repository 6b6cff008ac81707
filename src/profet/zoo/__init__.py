"""The fifteen CNNs of the published data in PyTorch, at any pixels and classes, to train and capture.

.. code-block::

    net = profet.zoo.build("ResNet50", pixels=64, classes=10)
"""

from profet.zoo.registry import NAMES, build, smallest_pixels

__all__ = ["NAMES", "build", "smallest_pixels"]
