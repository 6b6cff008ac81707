"""Shared memory: refused in one line where there is too little, and elsewhere where /dev/shm is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from profet.partition.backends.protocol import OutOfMemoryError
from profet.partition.execution import shared_batch
from profet.partition.execution.shared_batch import SharedBatch, check_memory, view_buffers
from profet.partition.networks.network import Network

FULL_SHM = """
import os, sys
from pathlib import Path
from profet.partition.execution.shared_batch import SharedBatch, free_bytes
from profet.partition.networks.network import Network, Tensor

toy = Network("toy", Path("toy.onnx"), "5a" * 32, Tensor("images", (3, 64, 64)), (Tensor("scores", (5,)),))
assert free_bytes("/dev/shm") < 2**20
shared = SharedBatch(toy, 64)
shared.images[:] = 3
print(float(shared.images.sum()), os.listdir("/dev/shm"))
"""


def test_input_and_outputs_are_what_the_network_takes_and_returns(toy: Network) -> None:
    shared = SharedBatch(toy, 6)
    assert shared.images.shape == (6, 3, 4, 4)
    assert [output.shape for output in shared.outputs] == [(6, 5), (6,)]
    assert shared.images.dtype == "float32"
    shared.images[5] = 4
    seen, _ = view_buffers(shared.buffers, toy, 6)
    assert (seen[5] == 4).all()


def test_it_leaves_no_name_behind(toy: Network) -> None:
    shared = SharedBatch(toy, 64)
    names = [path.name for folder in shared_batch.shared_folders() for path in Path(folder).iterdir()]
    assert shared.images.nbytes > 0
    assert not [name for name in names if name.startswith(f"pym-{os.getpid()}-")]


def test_more_than_memory_is_refused_with_what_would_fit() -> None:
    image = 2**20
    batch = 1000 * shared_batch.available_bytes() // image
    with pytest.raises(OutOfMemoryError, match=rf"a batch of {batch} images .* about \d+ images") as told:
        check_memory([batch * image], batch)
    assert "\n" not in str(told.value)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such folder")
def test_a_full_dev_shm_does_not_matter_where_the_temporary_folder_has_room() -> None:
    mount = "mount -t tmpfs -o size=64k none /dev/shm && exec "
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount + '"$0" -c "$1"']
    if os.geteuid() == 0:
        command = ["unshare", "--mount", *command[4:]]
    try:
        done = subprocess.run([*command, sys.executable, FULL_SHM], capture_output=True, text=True, timeout=120)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no folder may be mounted here: {done.stderr.strip()[:100]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(3.0 * 64 * 3 * 64 * 64), "[]"]


def test_no_room_in_any_folder_is_refused_before_memory_is_touched(
    toy: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/proc/self/mounts").exists():
        pytest.skip("needs a folder that never has room")
    monkeypatch.setattr(shared_batch, "shared_folders", lambda: ["/proc"])
    with pytest.raises(OutOfMemoryError, match="/proc have room for about 0 images"):
        SharedBatch(toy, 4)
