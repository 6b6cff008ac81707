"""Makes databases as ``nsys export --type sqlite`` writes them, with the columns of old and of new versions.

The columns are those of the exporter's documentation (2021.5) and of its schema 3.16 (2024.6).
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KERNEL, RUNTIME = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
MEMCPY, MEMSET = "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH, NVTX = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "NVTX_EVENTS"
GPU, CUDA_DEVICE = "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE"

_EVENT = "start,end,deviceId,contextId,streamId,correlationId,globalPid"
OLD = {
    KERNEL: f"{_EVENT},demangledName,shortName,launchType,gridX,gridY,gridZ",
    MEMCPY: f"{_EVENT},bytes,copyKind,srcKind,dstKind",
    MEMSET: f"{_EVENT},value,bytes,memKind",
    RUNTIME: "start,end,eventClass,globalTid,correlationId,nameId,returnValue,callchainId",
    NVTX: "start,end,eventType,rangeId,category,color,text:TEXT,globalTid,endGlobalTid,textId,domainId",
    GPU: "vmId,id,name:TEXT,busLocation:TEXT,smCount",
}
NEW = {
    **OLD,
    KERNEL: "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,demangledName,shortName,"
    "mangledName,launchType,cacheConfig,registersPerThread,gridX,gridY,gridZ,graphNodeId,sharedMemoryLimitConfig",
    MEMCPY: "start,end,deviceId,contextId,greenContextId,streamId,correlationId,globalPid,bytes,copyKind,"
    "deprecatedSrcId,srcKind,dstKind,srcDeviceId,dstDeviceId,migrationCause,graphNodeId,virtualAddress",
    GRAPH: f"{_EVENT},greenContextId,graphId,graphExecId",
    NVTX: OLD[NVTX] + ",uint64Value,int64Value,doubleValue:REAL,jsonTextId,jsonText:TEXT,binaryData:TEXT",
    GPU: "vmId,id,name:TEXT,busLocation:TEXT,isDiscrete,smCount,uuid:TEXT,chipName:TEXT,cuDevice",
    CUDA_DEVICE: "gpuId,cudaId,pid,uuid:TEXT,numMultiprocessors",
}
VERSIONS = {"2021": OLD, "2024": NEW}


def process(pid: int) -> int:
    """Return the globalPid of a process."""
    return (1 << 56) | (pid << 24)


def thread(pid: int, tid: int) -> int:
    """Return the globalTid of a thread."""
    return process(pid) | tid


MAIN = thread(100, 100)


@dataclass
class NsightFile:
    """Rows by table, from which a database is made; only tables with rows come into being."""

    version: str = "2024"
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    strings: dict[str, int] = field(default_factory=dict)

    def string(self, text: str) -> int:
        """Return the id of a text in StringIds."""
        return self.strings.setdefault(text, len(self.strings) + 1)

    def add(self, table: str, **values: Any) -> "NsightFile":
        """Add one row; columns that are not given are 0."""
        self.rows.setdefault(table, []).append(values)
        return self

    def call(self, start: int, correlation: int, tid: int = MAIN) -> "NsightFile":
        """Add a CUDA call of 5 ns."""
        name = self.string("cudaLaunchKernel_v7000")
        return self.add(RUNTIME, start=start, end=start + 5, globalTid=tid, correlationId=correlation, nameId=name)

    def kernel(
        self, start: int, end: int, correlation: int, name: str = "gemm", device: int = 0, pid: int = 100
    ) -> "NsightFile":
        """Add a kernel."""
        names = {"demangledName": self.string(name), "shortName": self.string(name.split("<", maxsplit=1)[0])}
        return self.device_event(KERNEL, start, end, correlation, device=device, pid=pid, **names)

    def device_event(
        self, table: str, start: int, end: int, correlation: int, device: int = 0, pid: int = 100, **more: Any
    ) -> "NsightFile":
        """Add a copy, a fill or a graph."""
        common = {"start": start, "end": end, "correlationId": correlation}
        return self.add(table, **common, deviceId=device, globalPid=process(pid), **more)

    def range(
        self, start: int, end: int | None, text: str, tid: int = MAIN, kind: int = 59, registered: bool = False
    ) -> "NsightFile":
        """Add an NVTX range."""
        name = {"text": None, "textId": self.string(text)} if registered else {"text": text, "textId": None}
        return self.add(NVTX, start=start, end=end, eventType=kind, globalTid=tid, **name)

    def write(self, path: Path) -> Path:
        """Write the database."""
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
            connection.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i, s) for s, i in self.strings.items()])
            connection.execute("CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)")
            for table, rows in self.rows.items():
                _write_table(connection, table, VERSIONS[self.version][table].split(","), rows)
        return path


def _write_table(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], rows: list[dict[str, Any]]
) -> None:
    typed = [column if ":" in column else f"{column}:INTEGER" for column in columns]
    names = [column.split(":")[0] for column in typed]
    kinds = ", ".join('"{}" {}'.format(*column.split(":")) for column in typed)
    connection.execute(f"CREATE TABLE {table} ({kinds})")
    values = [[row.get(name, 0) for name in names] for row in rows]
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", values)


def training(version: str = "2024", steps: int = 2) -> NsightFile:
    """Steps of a convolution and its backward pass on two threads, with a copy and a fill, of 1000 ns each."""
    file = NsightFile(version).add(GPU, id=0, name="Tesla V100-SXM2-16GB", cuDevice=0)
    worker = thread(100, 101)
    for step in range(steps):
        at, corr = 10_000 + 1000 * step, 10 * step
        file.range(at, at + 900, f"step {step + 1}")
        file.range(at + 100, at + 200, f"aten::conv2d, seq = {step}, op_id = {corr}, sizes = [[8, 3, 32, 32]]")
        file.range(at + 110, at + 190, f"aten::cudnn_convolution, seq = {step}, op_id = {corr + 1}")
        file.range(at + 400, at + 600, f"ConvolutionBackward0, seq = {step}", worker)
        file.range(at + 410, at + 590, "aten::convolution_backward", worker, registered=True)
        file.call(at + 10, corr + 1).call(at + 120, corr + 2).call(at + 420, corr + 3, worker).call(
            at + 700, corr + 4
        )
        file.device_event(MEMCPY, at + 20, at + 60, corr + 1, copyKind=1, srcKind=0, dstKind=2)
        file.kernel(at + 150, at + 350, corr + 2, "implicit_convolve_sgemm<float, 128>")
        file.kernel(at + 450, at + 650, corr + 3, "wgrad_alg0_engine<float>")
        file.device_event(MEMSET, at + 710, at + 720, corr + 4, memKind=2)
    return file
