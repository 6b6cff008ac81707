"""Which process of a distributed training a capture is made in: the first."""

import os

import torch


def is_first_rank() -> bool:
    """Whether this process is the only one, or the one with rank 0."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return bool(torch.distributed.get_rank() == 0)
    return os.environ.get("RANK", "0") == "0"
