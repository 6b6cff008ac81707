"""What was measured of one predictor on models it had not seen, as a bundle keeps it beside the predictor."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy.typing as npt

from profet.predictors.intervals import Calibration
from profet.predictors.manifest import MeasuredError
from profet.predictors.state import below

_PREFIX = {True: "calibration/with_latency/", False: "calibration/without_latency/"}


def calibration_prefix(latency_known: bool) -> str:
    """Return where the arrays of a calibration stand among those of what was measured."""
    return _PREFIX[latency_known]


@dataclass(frozen=True)
class Measured:
    """Errors and calibrations of one pair.

    Args:
        errors: by what was left out and whether the anchor's latency was known.
        calibrations: by whether the anchor's latency is known.
    """

    errors: tuple[MeasuredError, ...] = ()
    calibrations: Mapping[bool, Calibration] = field(default_factory=dict)

    def calibration_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the calibrations as named arrays."""
        return {
            _PREFIX[known] + each.name: getattr(calibration, each.name)
            for known, calibration in self.calibrations.items()
            for each in fields(calibration)
        }

    @staticmethod
    def calibrations_from(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[bool, Calibration]:
        """Rebuild the calibrations from named arrays.

        Raises:
            TypeError, ValueError: arrays that are not a calibration's.
        """
        parts = {known: below(arrays, prefix) for known, prefix in _PREFIX.items()}
        return {known: Calibration(**found) for known, found in parts.items() if found}
