"""Schedules that tuning found, by workload: networks share those of the same shapes."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from profet.data_folder import data_folder
from profet.partition.machine import slug
from profet.partition.tuning.folder import RECORDS, Summary, TuningFolder
from profet.quantities import MS_PER_S


class TuningRecords:
    """The records of one target and one version of TVM.

    Attributes:
        folder: where they are kept.
    """

    def __init__(self, folder: TuningFolder) -> None:
        self.folder = folder

    @classmethod
    def of(cls, target: Any) -> "TuningRecords":
        """Return the records of a target; there may be none yet."""
        import tvm

        text = str(target)
        name = slug(f"{target.kind.name} {target.attrs.get('mcpu') or target.attrs.get('arch') or ''}")
        path = _root(tvm.__version__) / f"{name}-{sha256(text.encode()).hexdigest()[:8]}"
        return cls(TuningFolder(path, text, tvm.__version__))

    def summary(self) -> Summary:
        """Return what was tuned; see TuningFolder.summary."""
        return self.folder.summary()

    def open(self) -> Any:
        """Return the database, made where it is missing.

        Raises:
            InputError: see TuningFolder.checked_files; or TVM cannot read it.
        """
        from tvm.s_tir.meta_schedule.database import JSONDatabase

        workloads, records = self.folder.checked_files()
        try:
            return JSONDatabase(str(workloads), str(records))
        except Exception as error:
            first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise self.folder.damaged(records, first_line) from error

    def fastest(self) -> Any:
        """Return a database in memory of those records that are faster than the default schedule."""
        from tvm.s_tir.meta_schedule.database import MemoryDatabase

        chosen = MemoryDatabase()
        default_ms = self.summary().default_ms
        for record in self.open().get_all_tuning_records():
            seconds = [float(each) for each in record.run_secs or ()]
            limit = default_ms.get(fingerprint(record.workload.mod), float("inf"))
            if seconds and sum(seconds) / len(seconds) * MS_PER_S < limit:
                chosen.commit_workload(record.workload.mod)
                chosen.commit_tuning_record(record)
        return chosen

    def apply(self, module: Any) -> Any:
        """Return a lowered module with the schedules that are faster than the default ones."""
        from tvm.relax.transform import MetaScheduleApplyDatabase

        with self.fastest():
            return MetaScheduleApplyDatabase()(module)

    def applies_to(self, module: Any, target: Any) -> bool:
        """Whether some function of a lowered module has a schedule that is faster than the default one."""
        from tvm.s_tir.meta_schedule.relax_integration import extract_tasks

        chosen = self.fastest()
        return any(chosen.has_workload(task.dispatched[0]) for task in extract_tasks(module, target))


def fingerprint(module: Any) -> str:
    """Return what tells a workload from others, the same in every process."""
    import tvm_ffi

    return format(tvm_ffi.structural_hash(module) & (2**64 - 1), "016x")


def tuned_mark(version: str) -> str:
    """Return a few letters that change whenever tuning has found more for a version of TVM; none before it has.

    Times that were measured before are not those of now: networks are compiled with what was found.
    """
    try:
        found = [(path.parent.name, path.stat().st_size) for path in sorted(_root(version).glob(f"*/{RECORDS}"))]
    except OSError:
        return ""
    found = [each for each in found if each[1]]
    return sha256(repr(found).encode()).hexdigest()[:8] if found else ""


def _root(version: str) -> Path:
    return data_folder() / "tuning" / slug(f"tvm {version}")
