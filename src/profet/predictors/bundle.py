"""Trained predictors as one file, with what they were trained on and how wrong they were measured to be."""

from collections.abc import Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Self

import msgspec

from profet.errors import BundleError, InputError
from profet.files import read_bounded
from profet.names import suggest
from profet.predictors.archive import MAX_FILE_BYTES, Archive, Arrays
from profet.predictors.blend import BlendPredictor
from profet.predictors.bundle_file import SCHEMA, joint_prefix, pair_prefix, part_prefix
from profet.predictors.epochs.converted import ConvertedPredictor
from profet.predictors.epochs.hardware_metrics import METHOD as HARDWARE_METRICS
from profet.predictors.intervals import Calibration
from profet.predictors.joint_errors import JointErrors
from profet.predictors.manifest import Manifest, Pair, Provenance
from profet.predictors.measured import Measured
from profet.predictors.methods import METHODS, Predictor, pair_class
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.predictors.scalers.published import SizeScaler
from profet.predictors.state import State

_SCHEMA_FAMILY = "profet/bundle/"


class Bundle:
    """Predictors of one method for some anchors and targets, and scalers; loads what is asked for, once."""

    def __init__(self, manifest: Manifest, archive: Archive, where: str):
        self._manifest = manifest
        self._archive = archive
        self._loaded: dict[tuple[str, str], Predictor] = {}
        self._calibrations: dict[tuple[str, str], dict[bool, Calibration]] = {}
        self._joint: dict[tuple[str, bool], JointErrors] = {}
        self.where = where

    @property
    def method(self) -> str:
        """Name of the method of all its predictors."""
        return self._manifest.method

    @property
    def sha256(self) -> str:
        """What tells it from every other bundle, also from one of the same data set."""
        return self._archive.sha256

    @property
    def provenance(self) -> Provenance:
        """What it was trained on."""
        return self._manifest.provenance

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every anchor → target it can answer for, with the measured errors."""
        return [
            Pair(entry.anchor, entry.target, tuple(entry.errors), entry.basis, entry.explanation)
            for entry in self._manifest.pairs
        ]

    def pair(self, anchor: str, target: str) -> Pair:
        """Return one of its pairs.

        Raises:
            InputError: unknown anchor or target; with the nearest names.
        """
        found = next((pair for pair in self.pairs if (pair.anchor, pair.target) == (anchor, target)), None)
        if found is None:
            known = self.targets(anchor)
            problem = "is the anchor itself" if target == anchor else f"is not in the bundle for {anchor}"
            raise InputError(f"target {target!r} {problem}; {suggest(target, known)}")
        return found

    def has(self, anchor: str, target: str) -> bool:
        """Whether it can answer for a pair."""
        return any((pair.anchor, pair.target) == (anchor, target) for pair in self.pairs)

    @property
    def anchors(self) -> list[str]:
        """Instances it can predict from, sorted."""
        return sorted({pair.anchor for pair in self.pairs})

    def targets(self, anchor: str) -> list[str]:
        """Instances it can predict for, given an anchor, sorted.

        Raises:
            InputError: unknown anchor; with the nearest names.
        """
        found = sorted(pair.target for pair in self.pairs if pair.anchor == anchor)
        if not found:
            raise InputError(f"anchor {anchor!r} is not in the bundle; {suggest(anchor, self.anchors)}")
        return found

    def predictor(self, anchor: str, target: str) -> Predictor:
        """Return the predictor of a pair.

        Raises:
            InputError: unknown anchor or target; with the nearest names.
            BundleError: its arrays are not those of its method.
        """
        if (anchor, target) not in self._loaded:
            self.pair(anchor, target)
            entry = next(e for e in self._manifest.pairs if (e.anchor, e.target) == (anchor, target))
            arrays = self._archive.arrays(pair_prefix(anchor, target))
            try:
                predictor = pair_class(entry.method or self.method).from_state(State(entry.settings, arrays))
                if isinstance(predictor, OnboardedPredictor | ConvertedPredictor):
                    predictor.rest_on(self.learnt(anchor, predictor.known_targets))
                calibrations = Measured.calibrations_from(arrays)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                raise BundleError(
                    f"{self.where}: {anchor} → {target} does not load ({error!r}); train it again"
                ) from None
            self._loaded[anchor, target] = predictor
            self._calibrations[anchor, target] = calibrations
        return self._loaded[anchor, target]

    def learnt(self, anchor: str, targets: Sequence[str] | None = None) -> dict[str, BlendPredictor]:
        """Return the predictors by our method that were learnt from runs on some targets, all of them unless told.

        Raises:
            BundleError: arrays of one of them are not those of its method.
        """
        own = [e.target for e in self._manifest.pairs if e.anchor == anchor and e.method is None]
        predictors = {
            name: self.predictor(anchor, name) for name in sorted(own) if targets is None or name in targets
        }
        return {name: each for name, each in predictors.items() if isinstance(each, BlendPredictor)}

    def calibration(self, anchor: str, target: str, latency_known: bool) -> Calibration | None:
        """Return how large the errors of a pair are; None where they were not measured.

        Raises:
            InputError: unknown anchor or target; with the nearest names.
            BundleError: its arrays are not those of its method.
        """
        self.predictor(anchor, target)
        return self._calibrations[anchor, target].get(latency_known)

    def joint_errors(self, anchor: str, latency_known: bool) -> JointErrors | None:
        """Return how the errors of an anchor's targets go together; None where that was not measured.

        Raises:
            BundleError: its arrays are none.
        """
        ways = ((entry, (entry.anchor, entry.latency_known)) for entry in self._manifest.joint)
        entry = next((entry for entry, way in ways if way == (anchor, latency_known)), None)
        if entry is None:
            return None
        if (anchor, latency_known) not in self._joint:
            try:
                scores = self._archive.arrays(joint_prefix(entry))["scores"].astype(float)
                self._joint[anchor, latency_known] = JointErrors(tuple(entry.targets), scores)
            except (KeyError, TypeError, ValueError) as error:
                raise BundleError(
                    f"{self.where}: joint errors of {anchor} do not load ({error!r}); train it again"
                ) from None
        return self._joint[anchor, latency_known]

    def part(self, name: str) -> State | None:
        """Return what the bundle keeps under a name that belongs to no single pair; None without it.

        Raises:
            BundleError: one of its arrays is not one of numbers.
        """
        settings = self._manifest.parts.get(name)
        return None if settings is None else State(settings, self._archive.arrays(part_prefix(name)))

    def contents(self) -> tuple[Manifest, Arrays]:
        """Return all that its file holds.

        Raises:
            BundleError: one of its arrays is not one of numbers.
        """
        return self._manifest, self._archive.arrays("")

    def scaler(self, instance: str, axis: str) -> tuple[SizeScaler, list[str]]:
        """Return the curve of an instance over batch or pixels, or the pooled one with a warning.

        Raises:
            InputError: the bundle has no curve over this axis at all.
        """
        curves = {scaler.instance: scaler for scaler in self._manifest.scalers if scaler.axis == axis}
        if instance in curves:
            return curves[instance], []
        if None not in curves:
            raise InputError(f"{self.where}: has no {axis} curve; train it on runs at several sizes")
        named = [name for name in curves if name is not None]
        return curves[None], [
            f"no {axis} curve was measured on {instance!r} ({suggest(instance, named)});"
            f" the one pooled over {len(named)} instances was used"
        ]

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """Read a bundle, the shipped one unless a path is given.

        Raises:
            InputError: missing, unreadable or too large.
            BundleError: damaged, not a bundle, or from a newer version.
        """
        source = Path(str(resources.files("profet") / "data" / "default.profet")) if path is None else path
        content = read_bounded(source, MAX_FILE_BYTES, "bundle")
        archive = Archive(content, str(source))
        schema = archive.manifest.get("schema")
        if schema != SCHEMA:
            newer = isinstance(schema, str) and schema.startswith(_SCHEMA_FAMILY)
            problem = (
                "from another version of Profet; update Profet, or train it again" if newer else "not a bundle"
            )
            raise BundleError(f"{source}: schema {str(schema)[:60]!r}, not {SCHEMA!r}: {problem}")
        try:
            manifest = msgspec.convert(archive.manifest, Manifest)
        except msgspec.ValidationError as error:
            raise BundleError(f"{source}: its manifest does not fit ({error}); train it again") from None
        if len({(entry.anchor, entry.target) for entry in manifest.pairs}) < len(manifest.pairs):
            raise BundleError(f"{source}: a pair stands there twice; train it again")
        if manifest.method not in {*METHODS, HARDWARE_METRICS}:
            raise BundleError(
                f"{source}: method {manifest.method[:60]!r} is not in this version of Profet; update it"
            )
        return cls(manifest, archive, str(source))
