"""A default schedule for CPUs: TVM itself leaves loops as they are there, which costs thirty times.

Every loop nest keeps a small tile of results in vector registers: some neighbouring pixels times one to four
vectors of channels, which lie side by side. Weights are packed once, when the network is compiled, in the order
in which they are read.
"""

from typing import Any

_REGISTERS = 16
_BUSY = 8
"""Sums that must go on side by side: a multiply-add takes 4 clocks, and two start in each."""
_MOST_PIXELS = 14
_PACKED = "meta_schedule.layout_rewrite_preproc"
"""Blocks with this mark are moved out of the function and done when the network is compiled."""


def apply_default_schedule(module: Any, lanes: int) -> Any:
    """Schedule every function of a module that has no schedule yet; return the same module.

    Args:
        module: an IRModule of fused loop nests, its weights marked by AttachAttrLayoutFreeBuffers.
        lanes: numbers of 32 bits in a vector of the CPU.
    """
    from tvm import tirx

    for name, function in list(module.functions_items()):
        if not isinstance(function, tirx.PrimFunc) or function.attrs.get("tirx.is_scheduled"):
            continue
        scheduled = _schedule(function, lanes)
        if scheduled is not None:
            module[name] = scheduled.with_attr("tirx.is_scheduled", True)
    return module


def _schedule(function: Any, lanes: int) -> Any:
    """Return a scheduled function, or None for one of another kind, which is left as it is."""
    from tvm.s_tir import Schedule, ScheduleError

    schedule = Schedule(function)
    try:
        blocks = list(schedule.get_child_blocks(schedule.get_sblock("root")))
        sums = [block for block in blocks if _reduction_axes(schedule, block)]
        if not sums:
            _schedule_elementwise(schedule, blocks, lanes)
        elif len(sums) == 1:
            _schedule_sum(schedule, blocks, blocks.index(sums[0]), lanes)
        else:
            return None
    except (ScheduleError, _OtherKindError):
        return None
    return schedule.mod["main"]


class _OtherKindError(Exception):
    """The loop nest is not one that this schedule knows."""


def _reduction_axes(schedule: Any, block: Any) -> int:
    return sum(int(axis.iter_type) != 0 for axis in schedule.get(block).iter_vars)


def _schedule_elementwise(schedule: Any, blocks: list[Any], lanes: int) -> None:
    for block in blocks[:-1]:
        schedule.compute_inline(block)
    _vectorize(schedule, blocks[-1], lanes)


def _vectorize(schedule: Any, block: Any, lanes: int) -> None:
    loops = schedule.get_loops(block)
    if not loops:
        raise _OtherKindError
    width = _largest_divisor(_extent(schedule, loops[-1]), 2 * lanes)
    if width > 1:
        _, inner = schedule.split(loops[-1], [None, width])
        schedule.vectorize(inner)
    outer = schedule.get_loops(block)[:-1]
    if outer:
        schedule.parallel(schedule.fuse(*outer[: max(1, min(2, len(outer) - 1))]))


def _schedule_sum(schedule: Any, blocks: list[Any], at: int, lanes: int) -> None:
    """Schedule a convolution, matrix product or pooling: tiles of results, all else around them."""
    block, before, after = blocks[at], blocks[:at], blocks[at + 1 :]
    for each in after[:-1]:
        schedule.compute_inline(each)
    last = after[-1] if after else block
    for each in before:  # padding; without any it is a copy, which is left out
        if type(schedule.get(each).body.value).__name__ == "BufferLoad":
            schedule.compute_inline(each)
        else:
            _vectorize(schedule, each, lanes)
    axes = schedule.get_loops(last)
    spatial = axes[: len(axes) - _reduction_axes(schedule, last)]
    if len(spatial) < 2:
        raise _OtherKindError
    pixels, channels = _tile(_extent(schedule, spatial[-2]), _extent(schedule, spatial[-1]), lanes)
    weights_first = _pack_weights(schedule, block, channels)
    outer_x, inner_x = schedule.split(spatial[-2], [None, pixels]) if pixels > 1 else (spatial[-2], None)
    outer_c, inner_c = schedule.split(spatial[-1], [None, channels])
    tile = [inner_c] if inner_x is None else [inner_x, inner_c]
    order = [outer_c, *spatial[:-2], outer_x] if weights_first else [*spatial[:-2], outer_x, outer_c]
    sums = axes[len(spatial) :]
    schedule.reorder(*order, *sums, *tile)
    fused = schedule.fuse(*order)
    schedule.parallel(fused)
    _unroll_tile(schedule, tile)
    if last is not block:
        schedule.compute_at(block, fused, preserve_unit_loops=True)
        inside = schedule.get_loops(block)[1:]
        count = len(inside) - _reduction_axes(schedule, block)
        tile, sums = inside[:count], inside[count:]
        schedule.reorder(*sums, *tile)
        _unroll_tile(schedule, tile)
    schedule.decompose_reduction(block, sums[0])


def _unroll_tile(schedule: Any, tile: list[Any]) -> None:
    for loop in tile[:-1]:
        schedule.unroll(loop)
    schedule.vectorize(tile[-1])


def _pack_weights(schedule: Any, block: Any, channels: int) -> bool:
    """Pack the weights of a sum; return whether they are larger than an image's results, so stay outermost."""
    function = schedule.mod["main"]
    constant = {int(index) for index in function.attrs.get("layout_free_buffers") or ()}
    regions = schedule.get(block)
    for index, region in enumerate(regions.reads):
        source = region.source
        places = [place for place, given in enumerate(function.params) if given.same_as(source)]
        if not places or places[0] not in constant or len(source.shape) < 2 or int(source.shape[-1]) % channels:
            continue
        copy = schedule.cache_read(block, index, "global")
        schedule.transform_layout(
            block,
            ("read", index),
            lambda *at: [at[-1] // channels, *at[:-1], at[-1] % channels],
            assume_injective_transform=True,
        )
        schedule.annotate(copy, _PACKED, True)
        return _elements(source.shape) > _elements(regions.writes[0].source.shape[1:])
    return False


def _elements(shape: Any) -> int:
    count = 1
    for size in shape:
        count *= int(size)
    return count


def _tile(width: int, channels: int, lanes: int) -> tuple[int, int]:
    """Return pixels and channels of a tile: enough to keep the multipliers busy, few enough for the registers."""
    best, best_merit = (1, _largest_divisor(channels, lanes)), -1.0
    for vectors in (1, 2, 4):
        if channels % (vectors * lanes):
            continue
        for pixels in (size for size in range(1, _MOST_PIXELS + 1) if width % size == 0):
            if (pixels + 1) * vectors + 1 > _REGISTERS:
                continue
            loads_an_operation = (pixels + vectors) / (pixels * vectors)
            merit = min(pixels * vectors, _BUSY) / _BUSY - loads_an_operation / 8
            if merit > best_merit:
                best, best_merit = (pixels, vectors * lanes), merit
    return best


def _extent(schedule: Any, loop: Any) -> int:
    """Return how often a loop runs; 1 where only the batch tells."""
    try:
        return int(schedule.get(loop).extent)
    except TypeError:
        return 1


def _largest_divisor(number: int, most: int) -> int:
    return max(size for size in range(1, most + 1) if number % size == 0)
