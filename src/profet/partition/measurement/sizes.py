"""Which batch sizes are measured: around the powers of two, fewer, or those that were asked for."""

from profet.errors import InputError
from profet.partition.tables import MOST_POINTS

LARGEST_SIZE = 2**24


def default_sizes(max_batch: int) -> tuple[int, ...]:
    """Return 2^n, 2^n - 1 and 2^n + 1 up to a largest size, and that size itself.

    The neighbours show the steps that many kernels have at powers of two.

    >>> default_sizes(10)
    (1, 2, 3, 4, 5, 7, 8, 9, 10)
    """
    near = {2**power + offset for power in range(max_batch.bit_length() + 1) for offset in (-1, 0, 1)}
    return tuple(sorted({size for size in near if 1 <= size <= max_batch} | {max_batch}))


def fewer_sizes(max_batch: int) -> tuple[int, ...]:
    """Return the powers of four up to a largest size, and that size itself.

    >>> fewer_sizes(128)
    (1, 4, 16, 64, 128)
    """
    return tuple(
        sorted({4**power for power in range(max_batch.bit_length()) if 4**power <= max_batch} | {max_batch})
    )


def stepped_sizes(batch: int, max_batch: int | None, step: int | None) -> tuple[int, ...]:
    """Return the sizes from one to another by steps; only the first where no last is given.

    >>> stepped_sizes(8, 32, 12)
    (8, 20, 32)

    Raises:
        InputError: a step without a last size, a last size below the first, or too many sizes.
    """
    if max_batch is None:
        if step is not None:
            raise InputError("--inc: says how far apart sizes are, up to --max-batch; give that too")
        return (batch,)
    if max_batch < batch:
        raise InputError(f"--max-batch: {max_batch} is below --batch {batch}")
    sizes = range(batch, max_batch + 1, step or 1)
    if len(sizes) > MOST_POINTS:
        raise InputError(f"--inc: {len(sizes)} sizes are more than {MOST_POINTS}; give a larger step")
    return tuple(sizes)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read ``1,4,16``.

    >>> parse_sizes("16,1,4")
    (1, 4, 16)

    Raises:
        InputError: something that is no size, one that stands twice, or too many.
    """
    pieces = [piece.strip() for piece in text.split(",")]
    if len(pieces) > MOST_POINTS:
        raise InputError(f"--batches: more than {MOST_POINTS} sizes")
    sizes = []
    for piece in pieces:
        number = int(piece) if piece.isascii() and piece.isdigit() and len(piece) < 12 else 0
        if not 1 <= number <= LARGEST_SIZE:
            raise InputError(
                f"--batches: '{piece[:40]}' is no batch size; write whole numbers from 1 on, such as 1,4,16"
            )
        if number in sizes:
            raise InputError(f"--batches: {number} stands twice")
        sizes.append(number)
    return tuple(sorted(sizes))
