"""``profet convert`` and ``profet predict`` on traces, as a user runs them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.trace_files import GAP_US, KERNEL_US, OPERATIONS, OPERATIONS_PER_STEP, step_us, write_trace

from profet.profiles.profile import Profile
from tests.conftest import DATA, REPOSITORY, Run, document, refused
from tests.profiles.chrome_files import ChromeFile, training
from tests.profiles.nsight_files import training as nsight_training
from tests.profiles.xplane_files import tensorflow_on_gpus

RESNET = DATA / "traces" / "resnet50_v100.pt.trace.json.gz"
PEAK_BYTES = 150 * 1024 * 1024
_WATCH = """
import resource, subprocess, sys
with open(sys.argv[1], "wb") as printed:
    subprocess.run(sys.argv[2:], stdout=printed, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return training(gpus=(0, 1)).write(tmp_path / "trace.json")


def converted(path: Path) -> Profile:
    return Profile.from_document(json.loads(path.read_text()), str(path))


def test_a_trace_becomes_a_profile_with_a_table_of_families_steps_and_gpus(
    profet: Run, trace: Path, tmp_path: Path
) -> None:
    result = profet(
        "convert", trace, "-o", tmp_path / "p.json", "--instance", "p3.2xlarge", "--plot", tmp_path / "p.svg"
    )
    assert result.returncode == 0, result.stderr
    assert "Device time of one step on p3.2xlarge" in result.stdout
    assert "conv backward data" in result.stdout
    assert "3 steps: median 1.000 ms" in result.stdout
    assert "GPUs in the trace" in result.stdout
    assert "conv backward data" in (tmp_path / "p.svg").read_text()
    assert converted(tmp_path / "p.json").instance == "p3.2xlarge"


def test_the_json_document_holds_families_steps_devices_and_unmapped_names(
    profet: Run, trace: Path, tmp_path: Path
) -> None:
    facts = document(profet("convert", trace, "-o", tmp_path / "p.json", "--gpu", 0, "--json"))
    families = {each["family"]: each for each in facts["families"]}
    assert families["conv_forward"]["us"] == pytest.approx(100.0)
    assert families["conv_forward"]["calls"] == 1.0
    assert families["conv_forward"]["spread"] == pytest.approx(0.0)
    assert families["idle"]["us"] == pytest.approx(facts["idle_us"]) == pytest.approx(500.0)
    assert [step["label"] for step in facts["per_step"]] == ["7", "8", "9"]
    assert facts["per_step"][0]["families_us"]["conv_backward_data"] == pytest.approx(200.0)
    assert [(each["number"], each["chosen"]) for each in facts["devices"]] == [(0, True), (1, False)]
    assert facts["odd_steps"] == []
    assert facts["unmapped"] == {}


@pytest.mark.parametrize(
    ("name", "framework"), [("xplane", "tensorflow"), ("nsight", "pytorch"), ("hardware", "unknown")]
)
def test_other_formats_are_recognised_from_a_file_and_from_standard_input(
    profet: Run, tmp_path: Path, name: str, framework: str
) -> None:
    path = tmp_path / "input"
    if name == "xplane":
        path.write_bytes(tensorflow_on_gpus(1))
    elif name == "nsight":
        nsight_training().write(path)
    else:
        path.write_text("timestamp, utilization.gpu [%], power.draw [W]\n1, 50 %, 70.5 W\n2, 60 %, 71.5 W\n")
    result = profet("convert", path, "-o", tmp_path / "p.json")
    assert result.returncode == 0, result.stderr
    profile = converted(tmp_path / "p.json")
    assert profile.framework == framework
    command = [sys.executable, "-m", "profet", "convert", "-", "-o", str(tmp_path / "q.json")]
    with path.open("rb") as stream:
        subprocess.run(command, stdin=stream, check=True, capture_output=True)
    assert converted(tmp_path / "q.json") == profile


def test_steps_can_be_left_out_or_stated(profet: Run, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.json"
    assert profet("convert", trace, "-o", out, "--leave-out-steps", "7, 9").returncode == 0
    assert converted(out).steps == 1
    assert profet("convert", trace, "-o", out, "--steps", 6, "--force").returncode == 0
    assert converted(out).steps == 6
    refused(profet("convert", trace, "-o", out, "--leave-out-steps", "12", "--force"), "no step '12'", "7, 8, 9")
    refused(profet("convert", trace, "-o", out, "--gpu", 4, "--force"), "GPU 4", "0, 1")


def test_a_rule_file_places_operations_and_kernels_of_ones_own(profet: Run, tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.launched("mine::norm", "fused_thing", 10, 100)
    trace.kernel("xyzzy_engine_v2", 300, 50, 200)
    path, rules = trace.write(tmp_path / "t.json"), tmp_path / "rules.toml"
    rules.write_text(
        '[names]\nnorm_forward = ["mine::norm"]\n[[kernels]]\nfamily = "conv_forward"\npattern = "^xyzzy"\n'
    )
    plain = document(profet("convert", path, "-o", tmp_path / "a.json", "--json"))
    assert "xyzzy_engine_v2" in plain["unmapped"]
    ruled = document(profet("convert", path, "-o", tmp_path / "b.json", "--rules", rules, "--json"))
    assert ruled["unmapped"] == {}
    assert {each["family"]: each["us"] for each in ruled["families"]} == {
        "norm_forward": 100.0,
        "conv_forward": 50.0,
        "idle": 850.0,
    }
    again = document(profet("convert", tmp_path / "b.json", "-o", tmp_path / "c.json", "--json"))
    assert again["families"][1]["family"] == "norm_forward"  # the profile alone tells what the rules said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[names", "end of a table declaration"),
        ('[names]\nconvolution = ["x"]\n', "'convolution' is no op family; they are conv_forward"),
        ('[[kernels]]\nfamily = "matmul"\npattern = "("\n', "no regular expression"),
        ('[[kernels]]\nfamily = "matmul"\npattern = "(a+)+$"\n', "repeats too much"),
        ('[[kernels]]\nfamily = "matmul"\npattern = "(a|aa)*$"\n', "repeats too much"),
        ('[[kernels]]\nfamily = "matmul"\npattern = "(?:x{9999}){9999}"\n', "may take forever"),
        ('[[kernels]]\nfamily = "matmul"\npattern = ".*.*.*.*Q"\n', "repeats too much"),
        ('[[kernels]]\nfamily = "matmul"\npattern = ""\n', "is empty"),
        ('[[kernels]]\nfamily = "matmul"\npattern = "[[a]"\n', "no regular expression"),
        ("a = " + "[" * 100_000, "a line of more than"),
        ("a = [\n" * 1500, "rules.toml"),
        ("a = 1" + "0" * 1990, "unknown field"),
        ('[[kernels]]\nfamily = "matmul"\n', "missing required field `pattern`"),
        ('[[rules]]\nfamily = "matmul"\n', "unknown field `rules`"),
        ("names = 3\n", "Expected `object`"),
        ("\x00\xff", "rules.toml"),
        ("", "empty"),
    ],
)
def test_a_rule_file_that_is_wrong_is_refused(
    profet: Run, trace: Path, tmp_path: Path, text: str, words: str
) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(text)
    refused(profet("convert", trace, "-o", tmp_path / "p.json", "--rules", rules), str(rules), words)
    assert not (tmp_path / "p.json").exists()


def test_names_of_a_trace_cannot_move_the_terminal_or_the_picture(profet: Run, tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.kernel("evil\x1b[2J[bold]$\\frac{1}$<g>", 10, 50, 5)
    path = trace.write(tmp_path / "t.json")
    words = ["convert", path, "-o", tmp_path / "p.json", "--plot", tmp_path / "p.svg", "--instance", "a\x1b[2J$x$"]
    result = profet(*words)
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert "Glyph" not in result.stderr


def test_a_prediction_comes_from_a_trace_at_once(profet: Run, tmp_path: Path) -> None:
    if not RESNET.is_file():
        pytest.skip(f"the public trace is not at {RESNET}; set PROFET_TEST_DATA to where the public data is")
    command = ["predict", RESNET, "--anchor", "p3.2xlarge", "--leave-out-steps", "5,9"]
    facts = document(profet(*command, "--json"))
    assert {each["target"] for each in facts["predictions"]} == {
        "g3s.xlarge",
        "g4dn.xlarge",
        "g5.xlarge",
        "p2.xlarge",
    }
    nearest = facts["predictions"][0]["card"]["nearest_workloads"]
    assert all(text.startswith("ResNet50") for text in nearest)
    assert not any("unlike the median" in text for text in facts["warnings"])


def test_a_trace_of_two_million_events_is_read_in_little_memory_and_right(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    write_trace(path, 2_000_000)
    command = [sys.executable, "-m", "profet", "convert", str(path), "-o", str(tmp_path / "p.json"), "--json"]
    # a small process starts it, since a child's peak counts what its parent held when it was started
    result = subprocess.run(
        [sys.executable, "-c", _WATCH, str(tmp_path / "facts.json"), *command], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) * (1 if sys.platform == "darwin" else 1024) < PEAK_BYTES
    facts = json.loads((tmp_path / "facts.json").read_text())
    each = OPERATIONS_PER_STEP / len(OPERATIONS) * KERNEL_US
    families = {share["family"]: share["us"] for share in facts["families"]}
    assert families == pytest.approx(
        dict.fromkeys(["conv_forward", "norm_forward", "activation_forward", "matmul"], each)
        | {"idle": OPERATIONS_PER_STEP * GAP_US}
    )
    assert facts["device_us"] == pytest.approx(step_us())
    assert any("a trace this large is read from its start" in text for text in facts["warnings"])
    assert len(facts["per_step"]) == facts["steps"] > 50
    assert all(step["length_us"] == pytest.approx(step_us()) for step in facts["per_step"])


def test_the_documentation_shows_what_the_command_prints(profet: Run, tmp_path: Path) -> None:
    if not RESNET.is_file():
        pytest.skip(f"the public trace is not at {RESNET}; set PROFET_TEST_DATA to where the public data is")
    page = (REPOSITORY / "docs" / "how-to" / "read-traces.md").read_text()
    result = profet("convert", RESNET, "-o", tmp_path / "p.json", "--leave-out-steps", "5,9")
    assert result.stdout.rsplit("wrote", 1)[0].strip() in page


def test_the_input_is_never_written_over(profet: Run, trace: Path, tmp_path: Path) -> None:
    before = trace.read_bytes()
    refused(profet("convert", trace, "-o", trace, "--force"), str(trace), "is the input")
    assert trace.read_bytes() == before
    picture = tmp_path / "p.svg"
    refused(profet("convert", trace, "-o", picture, "--plot", picture), "two outputs")
    assert not picture.exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--instance", "\udcff"], "not text in UTF-8"),
        (["--instance", "x" * 300], "instance is longer than 200 characters"),
    ],
)
def test_a_name_of_an_instance_that_is_none_is_refused(
    profet: Run, trace: Path, tmp_path: Path, words: list[str], text: str
) -> None:
    refused(profet("convert", trace, "-o", tmp_path / "p.json", *words), text)
