"""From an ONNX file to the loop nests that TVM schedules and compiles; and what it compiles for."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from profet.partition.backends.protocol import UnitError
from profet.partition.cores import default_threads
from profet.partition.networks.network import Network
from profet.partition.units import Unit

_DEVICE = re.compile(r"(?P<kind>llvm|cuda|opencl)(?::(?P<index>\d{1,2}))?", re.ASCII)
INSTALL = "pip install 'profet-latency[tvm]'"
_BATCH = "batch"


def import_tvm(threads: int | None = None) -> Any:
    """Import TVM, told how many threads to use and not to move them off their process's cores.

    Raises:
        UnitError: it is not installed, or does not start.
    """
    os.environ["TVM_BIND_THREADS"] = "0"
    if threads is not None:
        os.environ["TVM_NUM_THREADS"] = str(threads)
    try:
        import tvm
        import tvm.relax
        import tvm.s_tir
    except ModuleNotFoundError:
        raise UnitError(f"tvm: not installed; {INSTALL}") from None
    except Exception as error:
        text = (str(error) or type(error).__name__).strip().splitlines()[0][:200]
        raise UnitError(f"tvm: does not start ({text}); {INSTALL} brings versions that fit together") from error
    if threads is not None:
        with contextlib.suppress(ValueError):
            tvm.get_global_func("runtime.config_threadpool")(0, threads)
    return tvm


def device_of(unit: Unit) -> Any:
    """Return the device of a unit.

    Raises:
        UnitError: no such kind, not in this build of TVM, or not there.
    """
    tvm = import_tvm()
    match = _DEVICE.fullmatch(unit.device)
    if match is None or (match["kind"] == "llvm" and match["index"]):
        raise UnitError(f"{unit.name}: TVM has no device '{unit.device}' here; write llvm, cuda:0 or opencl:0")
    if match["kind"] == "llvm":
        return tvm.cpu()
    if tvm.support.libinfo().get(f"USE_{match['kind'].upper()}", "OFF") == "OFF":
        raise UnitError(f"{unit.name}: this build of TVM has no {match['kind']}; try openvino:GPU.0")
    device = tvm.device(match["kind"], int(match["index"] or 0))
    if not device.exist:
        raise UnitError(f"{unit.name}: there is no such GPU; profet partition units lists what there is")
    return device


def target_of(unit: Unit) -> Any:
    """Return what to compile for: the very CPU, or this one GPU, whatever the others beside it are.

    Raises:
        UnitError: see device_of.
    """
    tvm = import_tvm()
    device = device_of(unit)
    if unit.device == "llvm":
        cpu = tvm.target.codegen.llvm_get_system_cpu()
        return tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": default_threads(unit.worker_threads)})
    return tvm.target.Target.from_device(device)


def is_cpu(target: Any) -> bool:
    """Whether a target is a CPU."""
    return str(target.kind.name) == "llvm"


def lower(network: Network, target: Any, batch: int | None) -> Any:
    """Return the network as loop nests, neighbours fused, not yet scheduled.

    Args:
        network: the ONNX file.
        target: what it will be compiled for.
        batch: images of a batch; None for a program that takes any number.
    """
    import onnx
    import tvm
    from tvm.relax import transform
    from tvm.relax.frontend.onnx import from_onnx

    model = onnx.load(str(Path(network.path)))
    value = next(each for each in model.graph.input if each.name == network.input.name)
    first = value.type.tensor_type.shape.dim[0]
    if batch is None:
        first.dim_param = first.dim_param or _BATCH
    shapes = None if batch is None else {network.input.name: [batch, *network.input.shape]}
    module = from_onnx(model, shape_dict=shapes, keep_params_in_input=False)
    first_passes = [transform.DecomposeOpsForInference(), transform.CanonicalizeBindings()]
    channels_last = transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "HWIO"]})
    fusing = [
        transform.FoldConstant(),
        transform.LegalizeOps(),
        transform.AnnotateTIROpPattern(),
        transform.FoldConstant(),
        transform.FuseOps(),
        transform.FuseTIR(),
        transform.AttachAttrLayoutFreeBuffers(),
        transform.DeadCodeElimination(),
    ]
    with target:
        module = tvm.transform.Sequential(first_passes)(module)
        if is_cpu(target):
            # An operator whose layout cannot be turned: all stay as they are.
            with contextlib.suppress(tvm.error.InternalError):
                module = channels_last(module)
        return tvm.transform.Sequential(fusing)(module)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what TVM's compiler writes past Python's streams off the terminal."""
    saved = os.dup(2)
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silence, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(silence)
