"""What stays of the names in a captured trace of JAX or TensorFlow, made up here: neither is needed."""

from pathlib import Path

from profet.capture.composing import compose
from profet.capture.recording import XPLANE_TRACE, Recording
from profet.profiles.profile import Profile
from tests.profiles.xplane_files import PlaneMaker, space

STEP_US = 1000


def captured(folder: Path, framework: str, *planes: PlaneMaker) -> Profile:
    (folder / XPLANE_TRACE).write_bytes(space(*planes))
    recording = Recording(framework, "1.0", "cpu", XPLANE_TRACE, [0.9, 1.0, 1.1])
    return compose(recording, folder, None, None, None).reading.profile


def test_ranges_of_jax_show_no_function_and_no_range_of_the_user(tmp_path: Path) -> None:
    host = PlaneMaker("/host:CPU")
    main, worker = host.line("python"), host.line("worker")
    for number in range(3):
        start = number * STEP_US
        main.event("profet", start, 900, step_num=number)
        main.event("phase:secret", start + 10, 800)
        main.event("PjitFunction(secret_step)", start + 20, 700)
        main.event("secret range", start + 30, 100)
        worker.event("thunk", start + 100, 300, hlo_op="dot.3", hlo_module="jit_secret_step")
    profile = captured(tmp_path, "jax", host)
    assert profile.host_us == {"profet": 100.0, "(other ranges)": 200.0, "PjitFunction": 600.0}
    assert profile.device_us == {"dot": 300.0, "IDLE": 600.0}


def test_an_operation_that_jax_names_by_a_function_of_the_user_does_not_show_it(tmp_path: Path) -> None:
    host, gpu = PlaneMaker("/host:CPU"), PlaneMaker("/device:GPU:0")
    main, stream = host.line("python"), gpu.line("Stream #1")
    for number in range(3):
        start = number * STEP_US
        main.event("profet", start, 900, step_num=number)
        stream.event("loop_copy_fusion", start + 100, 50, tf_op="jit(secret_step)/jit(secret_layer):")
        stream.event("gemm_fusion_dot", start + 200, 300, tf_op="jit(secret_step)/secret_scope/dot_general:")
    profile = captured(tmp_path, "jax", host, gpu)
    assert sorted(name.partition(" ")[0] for name in profile.device_us) == ["IDLE", "dot_general", "jit"]
    assert "secret" not in profile.to_json()


def test_calls_of_tensorflow_show_no_function_of_the_user(tmp_path: Path) -> None:
    host = PlaneMaker("/host:CPU")
    main, worker = host.line("python"), host.line("executor")
    for number in range(3):
        start = number * STEP_US
        main.event("profet", start, 900, step_num=number)
        main.event("EagerLocalExecute: __inference_secret_function_12", start + 10, 400)
        main.event("EagerLocalExecute: PrefetchDataset", start + 500, 20)
        worker.event("secret_model/secret_layer/MatMul:MatMul", start + 100, 300)
    profile = captured(tmp_path, "tensorflow", host)
    assert profile.host_us == {
        "profet": 480.0,
        "EagerLocalExecute": 400.0,
        "EagerLocalExecute: PrefetchDataset": 20.0,
    }
    assert profile.device_us == {"MatMul": 300.0, "IDLE": 600.0}
