"""Exports of Nsight Systems: old and new columns, joins over processes, threads and GPUs, and hostile databases."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats.nsight import reader as nsight_sqlite
from profet.profiles.formats.recognition import looks_like_sqlite
from profet.profiles.traces.trace import NO_OPERATION, Trace
from tests.profiles import nsight_files
from tests.profiles.nsight_files import GPU, GRAPH, KERNEL, MEMCPY, MEMSET, NVTX, NsightFile, thread, training

Read = Callable[[NsightFile], Trace]
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_file(file: NsightFile) -> Trace:
        return nsight_sqlite.read(file.write(tmp_path / "x.sqlite"), "x.sqlite")

    return read_file


def refusal(path: Path) -> str:
    with pytest.raises(InputError, match=r"^x\.sqlite: ") as caught:
        nsight_sqlite.read(path, "x.sqlite")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kernels(trace: Trace) -> dict[str, str | None]:
    """The operation by the name of each device event."""
    device = trace.device
    return {
        trace.names[name]: None if operation == NO_OPERATION else trace.names[operation]
        for name, operation in zip(device.name.tolist(), device.operation.tolist(), strict=True)
    }


def sql(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.parametrize("version", ["2021", "2024"])
def test_kernels_belong_to_the_innermost_operation_around_their_launch(version: str, read: Read) -> None:
    trace = read(training(version))
    assert kernels(trace) == {
        "implicit_convolve_sgemm<float, 128>": "aten::cudnn_convolution",
        "wgrad_alg0_engine<float>": "aten::convolution_backward",
        "Memcpy HtoD (Pageable -> Device)": None,
        "Memset (Device)": None,
    }
    assert (trace.framework, trace.device_names, trace.warnings) == ("pytorch", {0: "Tesla V100-SXM2-16GB"}, ())


@pytest.mark.parametrize("version", ["2021", "2024"])
def test_times_are_us_from_the_first_event(version: str, read: Read) -> None:
    trace = read(training(version))
    first = trace.device.start_us.argmin()
    assert (trace.device.start_us[first], trace.device.end_us[first]) == (0.02, 0.06)
    assert trace.device.launch_us[first] == 0.01
    assert trace.host.start_us.min() == 0
    assert [(step.label, step.start_us, step.end_us) for step in trace.steps] == [("1", 0, 0.9), ("2", 1, 1.9)]


def test_ranges_are_host_events_by_thread_with_operations_told_apart(read: Read) -> None:
    host = (trace := read(training(steps=1))).host
    found = {
        trace.names[n]: (bool(op), lane)
        for n, op, lane in zip(host.name, host.is_operation, host.lane, strict=True)
    }
    assert found == {
        "step 1": (False, 0),
        "aten::conv2d": (True, 0),
        "aten::cudnn_convolution": (True, 0),
        "ConvolutionBackward0": (False, 1),
        "aten::convolution_backward": (True, 1),
    }


def test_equal_correlation_ids_of_two_processes_are_kept_apart(read: Read) -> None:
    file = NsightFile()
    for pid, name in ((100, "aten::mm"), (200, "aten::relu")):
        tid = thread(pid, pid)
        file.range(0, 100, name, tid).call(10 + pid, 7, tid).call(50, 7, tid).kernel(60, 70, 7, f"k{pid}", pid=pid)
    trace = read(file)
    assert kernels(trace) == {"k100": "aten::mm", "k200": "aten::relu"}
    assert trace.device.launch_us.tolist() == [0.05, 0.05]


def test_processes_that_each_see_one_gpu_as_0_run_on_two(read: Read) -> None:
    file = NsightFile()
    for pid, gpu in ((100, 0), (200, 1)):
        file.kernel(0, 10, 1, pid=pid).add(GPU, id=gpu, name=f"GPU {gpu}")
        file.add(nsight_files.CUDA_DEVICE, gpuId=gpu, cudaId=0, pid=pid)
    trace = read(file)
    assert sorted(trace.device.device.tolist()) == [0, 1]
    assert trace.device_names == {0: "GPU 0", 1: "GPU 1"}


def test_one_process_on_two_gpus_keeps_their_numbers(read: Read) -> None:
    trace = read(NsightFile("2021").kernel(0, 10, 1, device=0).kernel(0, 10, 2, device=1))
    assert trace.device.device.tolist() == [0, 1]


def test_a_launch_on_another_thread_than_the_range_has_no_operation(read: Read) -> None:
    file = NsightFile().range(0, 100, "aten::mm").call(50, 1, thread(100, 7)).kernel(60, 70, 1)
    assert kernels(read(file)) == {"gemm": None}


def test_kernels_without_a_call_have_no_launch(read: Read) -> None:
    trace = read(NsightFile().range(0, 100, "aten::mm").call(50, 1).kernel(60, 70, 1, "a").kernel(60, 70, 2, "b"))
    assert np.isnan(trace.device.launch_us).tolist() == [False, True]
    assert kernels(trace) == {"a": "aten::mm", "b": None}
    assert any("1 of 2 device events have no CUDA call" in line for line in trace.warnings)


def test_without_globalpid_the_only_process_is_meant(tmp_path: Path) -> None:
    path = NsightFile().range(0, 100, "aten::mm").call(50, 1).kernel(60, 70, 1).write(tmp_path / "x.sqlite")
    sql(path, f"UPDATE {KERNEL} SET globalPid = NULL")
    assert kernels(nsight_sqlite.read(path, "x.sqlite")) == {"gemm": "aten::mm"}


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("aten::conv2d, seq = 12, op_id = 33, sizes = [[1, 3]]", "aten::conv2d"),
        ("aten::mm, op_id = 33", "aten::mm"),
        ("aten::mm, sizes = [[2, 3]]", "aten::mm"),
        ("torchvision::nms", "torchvision::nms"),
        ("c10d::allreduce_", "c10d::allreduce_"),
        ("MatMul", "MatMul"),
        ("model/conv1/Conv2D:Conv2D", "Conv2D"),
        ("TSL:Thunk:#hlo_op=fusion.3,hlo_module=jit_step,program_id=5#", "fusion"),
        ("forward", None),
        ("Optimizer.step#SGD.step", None),
        ("ConvolutionBackward0, seq = 4", None),
        ("ReluBackward0", None),
        ("autograd::engine::evaluate_function: MmBackward0", None),
        ("torch::autograd::AccumulateGrad", None),
        ("IDLE", None),
        ("Foo::bar", None),
        ("", None),
    ],
)
def test_names_that_are_operations(text: str, operation: str | None, read: Read) -> None:
    assert kernels(read(NsightFile().range(0, 100, text).call(50, 1).kernel(60, 70, 1))) == {"gemm": operation}


def test_ranges_that_meet_or_have_no_length_do_not_take_each_others_launches(read: Read) -> None:
    file = NsightFile().range(0, 50, "aten::mm").range(50, 50, "aten::add").range(50, 100, "aten::relu")
    for number, at in enumerate((0, 49, 51, 100), start=1):
        file.call(at, number).kernel(200 + number, 210, number, f"k{at}")
    found = kernels(read(file))
    assert (found["k0"], found["k49"], found["k51"]) == ("aten::mm", "aten::mm", "aten::relu")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    spans=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 1)), max_size=12),
    at=st.integers(0, 40),
)
def test_nested_ranges_agree_with_a_plain_search(spans: Any, at: int, tmp_path: Path) -> None:
    def nests(span: tuple[int, int, int], others: list[tuple[int, int, int]]) -> bool:
        start, end, tid = span
        return all(
            t != tid or end < s or start > e or (s < start and end < e) or (start < s and e < end)
            for s, e, t in others
        )

    kept: list[tuple[int, int, int]] = []
    for a, b, tid in spans:
        if a < b and nests((a, b, tid), kept):
            kept.append((a, b, tid))
    file = NsightFile().call(at, 1, thread(100, 0)).kernel(50, 60, 1)
    for number, (start, end, tid) in enumerate(kept):
        file.range(start, end, f"aten::op{number}", thread(100, tid))
    trace = nsight_sqlite.read(file.write(tmp_path / "x.sqlite"), "x.sqlite")
    around = [(e - s, f"aten::op{n}") for n, (s, e, tid) in enumerate(kept) if tid == 0 and s <= at < e]
    assert kernels(trace) == {"gemm": min(around)[1] if around else None}
    assert not any("cross" in line for line in trace.warnings)


def test_ranges_that_cross_are_made_to_nest_with_a_warning(read: Read) -> None:
    trace = read(NsightFile().range(0, 100, "aten::mm").range(50, 150, "aten::add").kernel(60, 70, 1))
    assert sorted(zip(trace.host.start_us, trace.host.end_us, strict=True)) == [(0, 0.15), (0.05, 0.1)]
    assert any("2 NVTX ranges cross" in line for line in trace.warnings)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["ProfilerStep#5", "ProfilerStep#6"], ["5", "6"]),
        (["iteration 5", "iteration 7"], ["5", "7"]),
        (["iter_5"], ["5"]),
        (["Step: 12", "Step: 13"], ["12", "13"]),
        (["batch3", "batch 4"], ["3", "4"]),
        (["train_step", "train_step"], ["1", "2"]),
        (["Batch", "Batch", "Batch"], ["1", "2", "3"]),
        (["batch 1", "batch 2", "iteration 8", "iteration 9"], ["8", "9"]),
        (["batch 0", "batch 1", "batch 0", "batch 1"], ["0", "1", "0", "1"]),
        (["step 2", "step 1"], ["2", "1"]),
        (["forward", "stepping 3", "epoch 1"], []),
    ],
)
def test_step_marks(texts: list[str], labels: list[str], read: Read) -> None:
    file = NsightFile().kernel(0, 10, 1)
    for number, text in enumerate(texts):
        file.range(100 * number, 100 * number + 90, text)
    assert [step.label for step in read(file).steps] == labels


def test_step_marks_that_overlap_are_none(read: Read) -> None:
    assert read(NsightFile().kernel(0, 10, 1).range(0, 100, "step 1").range(50, 150, "step 2")).steps == ()


def test_steps_may_be_start_end_ranges_which_are_no_host_events(read: Read) -> None:
    trace = read(NsightFile().kernel(0, 10, 1).range(0, 100, "step 1", kind=60).range(0, 5, "mark", kind=34))
    assert [step.label for step in trace.steps] == ["1"]
    assert len(trace.host) == 0


def test_of_several_threads_that_mark_steps_one_is_taken(read: Read) -> None:
    file = NsightFile().kernel(0, 10, 1).range(0, 100, "step 1", thread(7, 7))
    trace = read(file.range(0, 50, "step 1").range(50, 100, "step 2"))
    assert [step.label for step in trace.steps] == ["1", "2"]
    assert any("2 threads mark steps" in line for line in trace.warnings)


@pytest.mark.parametrize(
    ("codes", "name"),
    [
        ((2, 2, 1), "Memcpy DtoH (Device -> Pinned)"),
        ((8, 2, 2), "Memcpy DtoD (Device -> Device)"),
        ((10, 2, 2), "Memcpy PtoP (Device -> Device)"),
        ((11, 4, 2), "Memcpy Unified HtoD (Managed -> Device)"),
        ((1, None, None), "Memcpy HtoD"),
        ((-5, 99, None), "Memcpy Unknown"),
    ],
)
def test_copies_are_named_as_pytorchs_profiler_names_them(codes: tuple[Any, ...], name: str, read: Read) -> None:
    kinds = dict(zip(("copyKind", "srcKind", "dstKind"), codes, strict=True))
    assert name in kernels(read(NsightFile().kernel(0, 10, 1).device_event(MEMCPY, 0, 10, 2, **kinds)))


def test_whole_graphs_are_read_with_a_warning(read: Read) -> None:
    trace = read(NsightFile().device_event(GRAPH, 0, 10, 1, graphId=4))
    assert list(kernels(trace)) == ["CUDA graph 4"]
    assert any("--cuda-graph-trace=node" in line for line in trace.warnings)


def test_a_kernel_without_demangled_name_has_its_short_one(tmp_path: Path) -> None:
    path = NsightFile().kernel(0, 10, 1, "gemm<float>").kernel(0, 10, 2, "other").write(tmp_path / "x.sqlite")
    sql(path, f"UPDATE {KERNEL} SET demangledName = 999", "DELETE FROM StringIds WHERE value = 'other'")
    assert set(kernels(nsight_sqlite.read(path, "x.sqlite"))) == {"gemm", "unnamed kernel"}


@pytest.mark.parametrize(
    ("kernel", "range_name", "framework"),
    [
        ("void at::native::vectorized_elementwise_kernel<4>", None, "pytorch"),
        ("tensorflow::functor::FillPhiloxRandomKernel", None, "tensorflow"),
        ("gemm", "model/conv/Conv2D:Conv2D", "tensorflow"),
        ("fusion", "TSL:XlaModule:#hlo_module=jit_step#", "jax"),
        ("gemm", "forward", "unknown"),
    ],
)
def test_the_framework_shows_in_names(kernel: str, range_name: str | None, framework: str, read: Read) -> None:
    file = NsightFile().kernel(0, 10, 1, kernel)
    assert read(file.range(0, 5, range_name) if range_name else file).framework == framework


def test_without_nvtx_a_warning_says_how_to_record_it(read: Read) -> None:
    (line, *_) = read(NsightFile().kernel(0, 10, 1)).warnings
    assert "--trace=cuda,nvtx" in line
    assert "torch.autograd.profiler.emit_nvtx()" in line


def test_ranges_that_name_no_operation_are_told(read: Read) -> None:
    assert any(
        "names an operation" in line for line in read(NsightFile().kernel(0, 9, 1).range(0, 9, "x")).warnings
    )


def test_rows_that_make_no_sense_are_left_out_and_counted(tmp_path: Path) -> None:
    file = NsightFile().range(0, None, "aten::mm").range(9, 3, "aten::mm")
    for number in range(6):
        file.kernel(10 * number, 10 * number + 5, number)
    changes = ("end = 0", "start = NULL", "start = 'soon'", "end = 9223372036854775807", "deviceId = -3")
    path = sql(
        file.write(tmp_path / "x.sqlite"),
        *(f"UPDATE {KERNEL} SET {change} WHERE rowid = {row}" for row, change in enumerate(changes, start=2)),
    )
    trace = nsight_sqlite.read(path, "x.sqlite")
    assert (len(trace.device), len(trace.host)) == (1, 0)
    assert any(f"5 rows of {KERNEL} left out" in line for line in trace.warnings)
    assert any(f"2 rows of {NVTX} left out" in line for line in trace.warnings)


def test_without_kernels_the_refusal_says_how_to_record_them(tmp_path: Path) -> None:
    only_copies = NsightFile().device_event(MEMCPY, 0, 9, 1, copyKind=1)
    for file in (NsightFile().range(0, 9, "aten::mm"), only_copies, NsightFile().kernel(9, 3, 1)):
        line = refusal(file.write(tmp_path / "x.sqlite"))
        assert "no GPU kernels were recorded; record with nsys profile --trace=cuda,nvtx" in line


def test_other_databases_are_refused(tmp_path: Path) -> None:
    assert "not of Nsight Systems" in refusal(sql(tmp_path / "other.sqlite", "CREATE TABLE t (a)"))
    nvprof = sql(tmp_path / "nvprof.sqlite", f"CREATE TABLE {KERNEL} (start INT, end INT, name INT)")
    assert "nvprof" in refusal(nvprof)
    assert "no column end" in refusal(sql(tmp_path / "odd.sqlite", f"CREATE TABLE {KERNEL} (start INT, shortName)"))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW {0} AS SELECT 1 AS start, 2 AS end, 1 AS demangledName",
        "CREATE VIEW {0} AS SELECT * FROM {0}",
        "CREATE VIEW {0} AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM n)"
        " SELECT start, start AS end, start AS demangledName FROM n",
        "CREATE VIRTUAL TABLE {0} USING fts5(start, end, demangledName)",
    ],
)
def test_views_and_virtual_tables_are_not_believed(statement: str, tmp_path: Path) -> None:
    path = NsightFile().range(0, 9, "aten::mm").write(tmp_path / "x.sqlite")
    assert "no GPU kernels" in refusal(sql(path, statement.format(KERNEL)))


def test_computed_columns_and_triggers_are_not_run(tmp_path: Path) -> None:
    path = sql(
        tmp_path / "x.sqlite",
        f"CREATE TABLE {KERNEL} (start INT, end INT, shortName INT, deviceId AS (start + 6))",
        f"INSERT INTO {KERNEL} VALUES (1, 2, 3)",
        f"CREATE TRIGGER t AFTER INSERT ON {KERNEL} BEGIN DELETE FROM {KERNEL}; END",
    )
    assert nsight_sqlite.read(path, "x.sqlite").device.device.tolist() == [0]


def test_the_file_is_only_read_whatever_its_name_and_journal(tmp_path: Path) -> None:
    path = training().write(tmp_path / "odd name?mode=rwc#%41.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert len(nsight_sqlite.read(path, "x.sqlite").device) == 8
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == before


def test_names_that_are_no_utf8_are_read(tmp_path: Path) -> None:
    path = NsightFile().kernel(0, 10, 1, "gemm").write(tmp_path / "x.sqlite")
    sql(path, "UPDATE StringIds SET value = CAST(x'67ff6d' AS TEXT)")
    assert list(kernels(nsight_sqlite.read(path, "x.sqlite"))) == ["g�m"]


def test_what_is_no_file_or_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database" * 100)
    (tmp_path / "empty").write_bytes(b"")
    assert "not a SQLite database, or damaged" in refusal(tmp_path / "text")
    assert "not of Nsight Systems" in refusal(tmp_path / "empty")
    assert "not a file" in refusal(tmp_path)
    assert "No such file" in refusal(tmp_path / "missing")
    assert "cannot be read" in refusal(tmp_path / "nul\0inside")


def test_a_sqlite_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    assert looks_like_sqlite(training().write(tmp_path / "x").read_bytes()[:16])
    assert not looks_like_sqlite(b"SQLite format 2\0")


def check_read_or_refused(path: Path) -> None:
    try:
        trace = nsight_sqlite.read(path, "x.sqlite")
    except InputError as error:
        assert str(error).startswith("x.sqlite: ")  # noqa: PT017 - any other error must fail the test
        assert "\n" not in str(error)  # noqa: PT017
    else:
        device, host = trace.device, trace.host
        assert (device.end_us >= device.start_us).all()
        assert (host.end_us >= host.start_us).all()
        assert np.isfinite(device.end_us).all()
        assert max(device.name.max(), *device.operation, *host.name) < len(trace.names)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return training(steps=40).write(tmp_path_factory.mktemp("nsight") / "x.sqlite").read_bytes()


@FUZZ
@given(data=st.data())
def test_damaged_databases_are_refused_or_a_trace(data: st.DataObject, whole: bytes, tmp_path: Path) -> None:
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 12))):
        page = data.draw(st.integers(0, len(content) // 4096 - 1)) * 4096
        content[page + data.draw(st.integers(0, 120) | st.integers(0, 4095))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    path = tmp_path / "x.sqlite"
    path.write_bytes(content[:cut])
    check_read_or_refused(path)


def test_pages_that_point_in_circles_are_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    for page in range(1, len(whole) // 4096):
        content = bytearray(whole)
        if content[page * 4096] == 5:  # an inner page of a table: let it be its own last child
            content[page * 4096 + 8 : page * 4096 + 12] = (page + 1).to_bytes(4, "big")
            path.write_bytes(content)
            refusal(path)
            return
    pytest.fail("no inner page to damage")


def inner_page(child: int) -> bytes:
    """Return an inner page of a table whose 400 children are all one page."""
    cells, pointers = b"", b""
    for rowid in range(400):
        cells += child.to_bytes(4, "big") + bytes([rowid % 128])
        pointers += (4096 - len(cells)).to_bytes(2, "big")
    head = bytes([5, 0, 0]) + (400).to_bytes(2, "big") + (4096 - len(cells)).to_bytes(2, "big") + b"\0"
    start = head + child.to_bytes(4, "big") + pointers
    upside_down = b"".join(cells[at : at + 5] for at in range(len(cells) - 5, -1, -5))
    return start + bytes(4096 - len(start) - len(cells)) + upside_down


def test_a_table_with_more_rows_than_fit_into_the_file_is_refused(tmp_path: Path) -> None:
    path = NsightFile().kernel(0, 10, 1).write(tmp_path / "x.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (KERNEL,)).fetchone()
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    leaf = content[(root - 1) * 4096 : root * 4096]
    content[(root - 1) * 4096 : root * 4096] = inner_page(pages + 1)
    content += inner_page(pages + 2) + inner_page(pages + 3) + inner_page(pages + 4) + leaf
    content[28:32] = (pages + 4).to_bytes(4, "big")
    path.write_bytes(content)
    assert f"table {KERNEL} has no end" in refusal(path)


values = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 60)
    | st.text(max_size=4)
    | st.floats()
    | st.binary(max_size=3)
)


@FUZZ
@given(
    tables=st.dictionaries(
        st.sampled_from([KERNEL, MEMCPY, MEMSET, GRAPH, NVTX, GPU, nsight_files.RUNTIME, nsight_files.CUDA_DEVICE]),
        st.lists(st.dictionaries(st.integers(0, 20), values, max_size=10), max_size=6),
    )
)
def test_arbitrary_rows_are_refused_or_a_trace(tables: Any, tmp_path: Path) -> None:
    file = NsightFile().kernel(0, 10, 1).call(0, 1).range(0, 10, "aten::mm")
    for table, rows in tables.items():
        names = [column.split(":")[0] for column in nsight_files.NEW[table].split(",")]
        for row in rows:
            file.add(table, **{names[index % len(names)]: value for index, value in row.items()})
    check_read_or_refused(file.write(tmp_path / "x.sqlite"))


@FUZZ
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("0123456789ABCDEF"), st.text("abc,() '\"", max_size=9)),
        max_size=4,
    )
)
def test_arbitrary_schemas_are_refused_or_a_trace(changes: Any, tmp_path: Path) -> None:
    path = training().write(tmp_path / "x.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        for row, page, text in changes:
            statement = "UPDATE sqlite_master SET rootpage = ?, sql = replace(sql, 'INTEGER', ?) WHERE rowid = ?"
            connection.execute(statement, (int(page, 16), text, row))
    check_read_or_refused(path)
