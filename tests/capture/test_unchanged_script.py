"""``profet profile``: a script that is not changed trains as it always does, and leaves a profile."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from profet import read_profile
from tests.capture.scripts import SHORT_OPTIONS, TRAIN, command, script
from tests.conftest import Run, document, refused
from tests.e2e.test_interrupt import LISTENING

STEPS = 20


def test_a_script_leaves_a_profile_that_predict_takes(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    options = ("-o", path, "--instance", "g4dn.xlarge", *SHORT_OPTIONS)
    done = profet("profile", *options, "--", *command(script(tmp_path, TRAIN), STEPS))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(f"wrote {path}: ")
    profile = read_profile(path)
    assert (profile.batch_size, profile.pixels, profile.framework) == (6, 20, "pytorch")
    assert len(profile.latency_samples_ms) == 8
    answer = document(profet("predict", path, "--json"))
    assert answer["anchor"] == "g4dn.xlarge"
    assert answer["anchor_latency_ms"] == profile.step_latency_ms


def test_it_has_its_own_arguments_input_output_and_exit_code(profet: Run, tmp_path: Path) -> None:
    tell = "print(sys.argv[1:], sys.stdin.read(), __name__, sys.path[0])\nprint('oh', file=sys.stderr)\nsys.exit(7)"
    path = script(tmp_path, TRAIN, tell)
    run = ("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS)
    done = profet(*run, *command(path, STEPS, "--lr", "-3", "-o", "x"), stdin="given")
    assert done.returncode == 7
    assert done.stdout == f"['{STEPS}', '--lr', '-3', '-o', 'x'] given __main__ {tmp_path}\n"
    assert done.stderr.startswith("oh\nwrote ")
    assert read_profile(tmp_path / "p.json").steps > 0


def test_its_exit_code_counts_where_there_is_no_profile(profet: Run, tmp_path: Path) -> None:
    done = profet("profile", "-o", tmp_path / "p.json", *command(script(tmp_path, "raise SystemExit(5)")))
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "not written: no step of a PyTorch optimizer was seen" in line


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["pass"], ["no step of a PyTorch optimizer was seen", "torch.optim"]),
        ([TRAIN.replace("int(sys.argv[1])", "9")], ["the training took 9 steps, a capture needs 15"]),
        ([TRAIN.replace("optimizer.step()", "pass").replace("int(sys.argv[1])", "9")], ["no step of a PyTorch"]),
    ],
)
def test_a_script_that_trains_too_little_is_told_in_one_line(
    profet: Run, tmp_path: Path, parts: list[str], words: list[str]
) -> None:
    path = script(tmp_path, *parts)
    refused(profet("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(path)), "not written", *words)
    assert not (tmp_path / "p.json").exists()


def test_mistakes_are_met_before_the_script_runs(profet: Run, tmp_path: Path) -> None:
    path = script(tmp_path, "print('ran')")
    (tmp_path / "p.json").write_text("mine")
    refused(profet("profile", "-o", tmp_path / "p.json", *command(path)), "exists; use --force")
    refused(profet("profile", "-o", tmp_path / "q.json", "pyhton", path), "pyhton: no such command", "python")
    refused(profet("profile", "-o", tmp_path / "q.json", "--timed", 1, *command(path)), "1 timed steps", "from 3")
    refused(profet("profile", "-o", tmp_path / "q.json"), "COMMAND")


def test_its_own_sitecustomize_still_runs(profet: Run, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nsys.customized = getattr(sys, 'customized', 0) + 1\n")
    path = script(tmp_path, "import sys, sitecustomize", "print(sys.customized, sitecustomize.__file__)", TRAIN)
    done = profet(
        *("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(path, STEPS)),
        env={**os.environ, "PYTHONPATH": str(own)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"1 {own / 'sitecustomize.py'}\n"


def test_nothing_but_the_capture_itself_is_loaded_into_it(profet: Run, tmp_path: Path) -> None:
    """Not even what Profet's own install needs: the script's environment may have none of it."""
    tell = "print(sorted({'msgspec', 'rapidfuzz', 'click', 'google.protobuf', 'rich'} & set(sys.modules)))"
    path = script(tmp_path, TRAIN, tell)
    done = profet("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(path, STEPS))
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_it_and_it_decides(tmp_path: Path, number: signal.Signals) -> None:
    handle = f"import signal, time\nsignal.signal({int(number)}, lambda *_: sys.exit(9))\nprint('up', flush=True)"
    path = script(tmp_path, TRAIN, handle, "while True: time.sleep(0.01)")
    arguments = ["profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(path, STEPS)]
    run = [sys.executable, "-c", LISTENING, *map(str, arguments)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        assert process.wait(60) == 9
    assert read_profile(tmp_path / "p.json").steps > 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_signal_that_ends_it_is_its_exit_code(profet: Run, tmp_path: Path) -> None:
    path = script(tmp_path, TRAIN, "import os", "os.kill(os.getpid(), 9)")
    done = profet("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(path, STEPS))
    assert done.returncode == 128 + 9
    assert read_profile(tmp_path / "p.json").steps > 0


def test_the_profile_is_written_while_it_still_trains(profet: Run, tmp_path: Path) -> None:
    output = tmp_path / "p.json"
    wait = f"import os, time\nwhile not os.path.exists({str(output)!r}): time.sleep(0.01)\nprint('there')"
    done = profet("profile", "-o", output, *SHORT_OPTIONS, *command(script(tmp_path, TRAIN, wait), STEPS))
    assert done.stdout == "there\n"


def test_of_several_processes_that_train_one_is_captured(profet: Run, tmp_path: Path) -> None:
    worker = script(tmp_path, TRAIN)
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import subprocess, sys\n"
        f"runs = [subprocess.Popen([sys.executable, {str(worker)!r}, '{STEPS}']) for _ in range(2)]\n"
        "sys.exit(sum(run.wait() for run in runs))\n"
    )
    done = profet("profile", "-o", tmp_path / "p.json", *SHORT_OPTIONS, *command(parent))
    assert done.returncode == 0, done.stderr
    assert read_profile(tmp_path / "p.json").device_calls["aten::conv2d"] == 1
