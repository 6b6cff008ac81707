"""Step latency by batch of a rank, predicted from one profile, as a performance table."""

from profet.errors import InputError
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import predict
from profet.predictors.sizes.sizes import MOST_WORK
from profet.profiles.formats import read_profile
from profet.profiles.profile import Profile


def predicted_table(sources: tuple[str, ...], bundle: Bundle, global_batch: int) -> PerformanceTable:
    """Predict the curve of each rank.

    Args:
        sources: RANK=PROFILE, or RANK@INSTANCE=PROFILE for a rank on another instance than the profile's.
        bundle: that knows of other batch sizes.
        global_batch: beyond which no rank is asked about.

    Returns:
        One unit a rank, with what should make one careful as its warnings.

    Raises:
        InputError: a source that is none, or a profile whose instance or batch size is unknown.
    """
    units, warnings = [], []
    for source in sources:
        rank, equals, path = source.partition("=")
        name, at, instance = rank.partition("@")
        if not (equals and path and name) or (at and not instance):
            raise InputError(f"--profile: {source[:60]!r} is none; write it as RANK=FILE or RANK@INSTANCE=FILE")
        unit, told = _curve(name, instance or None, read_profile(path), path, bundle, global_batch)
        units.append(unit)
        warnings += [f"rank {name}: {each}" for each in told]
    try:
        return PerformanceTable(network="predicted", units=tuple(units), warnings=tuple(warnings))
    except ValueError as error:
        raise InputError(f"--profile: {error}") from None


def _curve(
    rank: str, instance: str | None, profile: Profile, path: str, bundle: Bundle, global_batch: int
) -> tuple[UnitTable, list[str]]:
    if profile.instance is None or profile.batch_size is None:
        missing = "instance" if profile.instance is None else "batch_size"
        raise InputError(f"{path}: does not say its {missing}; write it into the profile (profet convert)")
    target = instance or profile.instance
    points, told = [], {}
    for batch in _sizes(profile.batch_size, global_batch):
        if batch == profile.batch_size and target == profile.instance and profile.step_latency_ms is not None:
            points.append(Point(batch=batch, execution_ms=profile.step_latency_ms))
            continue
        made = predict(profile, bundle, targets=[target], batch_size=batch)
        points.append(Point(batch=batch, execution_ms=made.predictions[0].latency_ms))
        told[batch] = made.warnings
    return UnitTable(name=rank, full_name=rank, points=tuple(points)), _in_short(told)


def _in_short(told: dict[int, tuple[str, ...]]) -> list[str]:
    """Return the warnings that hold at all sizes, and one line that names the sizes with others."""
    everywhere = [text for text in next(iter(told.values()), ()) if all(text in each for each in told.values())]
    special = [str(batch) for batch, each in told.items() if set(each) - set(everywhere)]
    if special:
        sizes = ", ".join(special)
        everywhere.append(f"predictions at batch {sizes} have warnings of their own: profet predict --batch-size N")
    return everywhere


def _sizes(profiled: int, most: int) -> list[int]:
    """Return the profiled size and powers of two around it, as far as predictions reach."""
    largest = min(most, int(profiled * MOST_WORK))
    powers = (2**power for power in range(most.bit_length()))
    return sorted({profiled, largest, *(size for size in powers if profiled / MOST_WORK <= size <= largest)})
