"""Chrome traces of PyTorch's profiler."""
