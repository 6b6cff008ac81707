"""Which scaler a bundle has: the learnt one, or the published."""

from profet.errors import BundleError, InputError
from profet.names import suggest
from profet.predictors.bundle import Bundle
from profet.predictors.scalers.curve_shapes import PART, shapes_from
from profet.predictors.scalers.learnt import LearntScaler
from profet.predictors.scalers.published import SizeScaler

LEARNT, PUBLISHED = "learnt", "published"
SCALER_METHODS = (LEARNT, PUBLISHED)

Scaler = SizeScaler | LearntScaler


def bundle_scaler(
    bundle: Bundle, instance: str, axis: str, method: str | None = None, batch: int | None = None
) -> tuple[Scaler, list[str]]:
    """Return the curve of an instance over batch or pixels, and warnings.

    Args:
        bundle: that holds the curves.
        instance: where the latencies at the ends were measured.
        axis: "batch" or "pixels".
        method: "learnt" or "published"; the learnt one unless given, and the published one, with a warning, where
            a bundle lacks it.
        batch: at which the ends of a curve over pixels were measured, where known: the learnt curve is surer then.

    Raises:
        InputError: the method is unknown, or the bundle has no curve over this axis.
        BundleError: its part about curves is damaged.
    """
    if method not in (None, *SCALER_METHODS):
        raise InputError(f"method {method!r} is unknown; {suggest(str(method), SCALER_METHODS)}")
    if batch is not None and (axis != "pixels" or batch < 1):
        raise InputError(
            f"batch size of {batch} for a curve over {axis}: it says at which batch pixels changed, 1 or more"
        )
    if method == PUBLISHED:
        return bundle.scaler(instance, axis)
    part = bundle.part(PART)
    try:
        shapes = None if part is None else shapes_from(part, axis, batch is not None) or shapes_from(part, axis)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BundleError(f"{bundle.where}: its {axis} curves do not load ({error!r}); train it again") from None
    if shapes is None:
        if method == LEARNT:
            raise InputError(f"{bundle.where}: no learnt {axis} curve; train it again, or say --method published")
        scaler, warnings = bundle.scaler(instance, axis)
        return scaler, [*warnings, "this bundle has the published scaler only; train it again for the better one"]
    if instance in shapes.instances:
        return LearntScaler(shapes, instance, batch), []
    return LearntScaler(shapes, None, batch), [
        f"no {axis} curve was measured on {instance!r} ({suggest(instance, shapes.instances)});"
        f" the one pooled over {len(shapes.instances)} instances was used"
    ]
