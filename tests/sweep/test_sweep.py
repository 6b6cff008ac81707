"""``profet sweep`` as its user sees it: a data set comes out, whatever happens on the way."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from profet import read_profile
from profet.datasets.dataset import Dataset
from tests.conftest import Run, document
from tests.e2e.test_interrupt import LISTENING
from tests.sweep.conftest import SHORT, parts

PATIENCE_S = 120
MACHINES = (
    *("--instance", "plain:device=cpu,ATEN_CPU_CAPABILITY=default,ONEDNN_MAX_CPU_ISA=SSE41"),
    *("--instance", "fast:device=cpu"),
)


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_sweep_that_was_stopped_twice_gives_a_data_set_to_train_on(profet: Run, tmp_path: Path) -> None:
    output = tmp_path / "own.dataset"
    what = ("--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--repeats", 1, "--core", usable_core())
    command = ["sweep", *what, *MACHINES, *SHORT, "-o", output]

    temporary = tmp_path / "temporary"
    told = stopped(command, signal.SIGINT, lambda: True, temporary)
    assert told.returncode == 130
    left = f"{output}.parts keeps 0 of 2 runs, and the same command goes on"
    progress, *rest = told.stderr.splitlines()
    assert progress.startswith("0 of 2 runs, about ")  # once a minute at most, and no more of it
    assert rest == [f"profet: interrupted; {left}"]
    stopped(command, signal.SIGKILL, lambda: len(parts(output)) == 1, temporary)
    assert not output.exists()
    before = parts(output)
    so_far = document(profet(*command, "--as-it-is", "--json"))
    assert (so_far["runs"], len(Dataset.load(output).runs), parts(output)) == (1, 1, before)
    result = document(profet(*command, "--force", "--json"))

    assert (result["runs"], result["given_up"], result["instances"]) == (2, [], ["fast", "plain"])
    done = parts(output)
    assert {name: done[name] for name in before} == before  # nothing was measured twice
    dataset = Dataset.load(output)
    assert dataset.runs[["instance", "model", "batch_size"]].to_numpy().tolist() == [
        ["fast", "LeNet5", 2],
        ["plain", "LeNet5", 2],
    ]
    assert dataset.has_profile.all()
    assert "ATEN_CPU_CAPABILITY=default" in " ".join(dataset.sources)
    path = Path(f"{output}.parts") / "exp01_fast_LeNet5_32px_2_SGD.json"
    one = read_profile(path)
    assert dataset.runs["step_latency_ms"][0] == one.step_latency_ms
    for side, kept in (("device_us", one.device_us), ("device_calls", one.device_calls)):
        assert getattr(dataset, side)["aten::mkldnn_convolution"][0] == kept["aten::mkldnn_convolution"]
    assert "LeNet" not in one.to_json()

    bundle = tmp_path / "own.profet"
    trained = profet("train", output, "--no-measure", "-o", bundle)
    assert trained.returncode == 0, trained.stderr
    predicted = document(profet("predict", path, "--bundle", bundle, "--json"))
    assert [each["target"] for each in predicted["predictions"]] == ["plain"]


def usable_core() -> int:
    return max(os.sched_getaffinity(0))


def stopped(
    command: list[object], how: signal.Signals, ready: Callable[[], bool], temporary: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command until it has come so far, then end it; what it had started ends too, and leaves nothing."""
    words = [sys.executable, "-c", LISTENING, *map(str, command)]
    temporary.mkdir(exist_ok=True)
    around = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=around) as process:
        wait_until(lambda: ready() or process.poll() is not None)
        wait_until(lambda: bool(children(process.pid)) or process.poll() is not None)
        started = children(process.pid)
        assert process.poll() is None, "the sweep ended before it could be stopped"
        process.send_signal(how)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started))
    assert list(temporary.iterdir()) == []
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


def children(pid: int) -> list[str]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text().split() if path.exists() else []


def test_what_does_not_fit_or_fails_or_is_noisy_is_noted_and_the_rest_is_measured(
    profet: Run, tmp_path: Path
) -> None:
    output, table = tmp_path / "own.dataset", tmp_path / "workloads.csv"
    table.write_text("model,batch,pixels\nLeNet5,2,32\nLeNet5,1000000,512\nLeNet5,1040000,512\n")
    command = ["sweep", "--workloads", table, "--repeats", 1, "--core", usable_core(), *SHORT, "-o", output]
    command += ["--instance", "good:device=cpu", "--instance", "broken:PYTHONHOME=/nowhere"]

    made = profet(*command)

    assert made.returncode == 0, made.stderr
    assert Dataset.load(output).runs["batch_size"].tolist() == [2]
    assert "exp01_good_LeNet5_512px_1000000_SGD did not fit in memory" in made.stderr
    assert "exp01_broken_LeNet5_32px_2_SGD failed: " in made.stderr
    assert "1040000_SGD did not" not in made.stderr  # larger than what did not fit: not tried
    assert "warning: 2 runs did not fit in memory" in made.stderr
    before = time.monotonic()
    again = document(profet(*command, "--force", "--json"))  # notes are kept: nothing is tried again
    assert time.monotonic() - before < PATIENCE_S / 4
    kinds = sorted(note["kind"] for note in again["given_up"])
    assert kinds == ["failed", "failed", "failed", "memory", "memory"]

    noisy = profet("sweep", "--models", "LeNet5", "--batch-sizes", 2, "--pixels", 32, "--instance", "good",
                   "--repeats", 1, *SHORT, "--max-spread", 0, "--tries", 1, "-o", tmp_path / "noisy")  # fmt: skip
    assert noisy.returncode == 2
    assert "refused: the machine was busy: the timed steps were " in noisy.stderr
    assert "Traceback" not in noisy.stderr
    assert not (tmp_path / "noisy").exists()


def test_a_run_that_takes_too_long_is_ended(profet: Run, tmp_path: Path) -> None:
    what = (
        "--models",
        "LeNet5",
        "--batch-sizes",
        2,
        "--pixels",
        32,
        "--repeats",
        1,
        "--instance",
        "slow:device=cpu",
    )
    ended = profet("sweep", *what, *SHORT, "--max-minutes", 0.001, "-o", tmp_path / "own.dataset")
    assert ended.returncode == 2
    assert "failed: took over 0.001 min and was ended; the same command with --again" in ended.stderr
    longer = profet("sweep", *what, *SHORT, "--max-minutes", 10, "--again", "-o", tmp_path / "own.dataset")
    assert longer.returncode == 0, longer.stderr


def test_a_plan_is_told_before_anything_runs(profet: Run, tmp_path: Path) -> None:
    sizes = ("--batch-sizes", "16,64", "--pixels", "32,96", "--repeats", 3)
    command = ("sweep", "--models", "all", *sizes, *MACHINES, "--dry-run", "-o", tmp_path / "own.dataset")
    result = profet(*command)
    assert result.returncode == 0, result.stderr
    assert "InceptionV3 at 32 pixels is left out: it takes 75 or more" in result.stderr
    assert "56, 3 times each on plain, fast" in result.stdout
    facts = document(profet(*command, "--json"))
    assert (facts["workloads"], facts["runs"], facts["missing"], facts["guessed"]) == (56, 336, 336, True)
    assert list(tmp_path.iterdir()) == []
