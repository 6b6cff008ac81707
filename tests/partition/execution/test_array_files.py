"""Images and outputs as NumPy files."""

from pathlib import Path

import numpy as np
import pytest

from profet.errors import InputError, OutputError
from profet.partition.backends.protocol import Array
from profet.partition.execution.array_files import check_outputs, read_images, write_outputs
from profet.partition.networks.network import Network, Tensor


def saved(path: Path, array: Array) -> Path:
    np.save(path, array, allow_pickle=True)
    return path


def test_the_first_images_of_a_file_are_read(toy: Network, images: Array, tmp_path: Path) -> None:
    path = saved(tmp_path / "images.npy", images)
    assert (read_images(path, toy, None) == images).all()
    assert (read_images(path, toy, 10) == images[:10]).all()


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros((2, 4, 4, 3), np.float32), r"takes \(images, 3, 4, 4\)"),
        (np.float32(3), "has shape"),
        (np.zeros((0, 3, 4, 4), np.float32), "holds no image"),
        (np.zeros((2, 3, 4, 4), np.float32), "holds 2 images, fewer than --batch 5"),
        (np.array([{}], object), "not a .npy file of numbers"),
        (np.full((5, 3, 4, 4), "text"), "holds <U4; toy takes float32"),
        (np.zeros((5, 3, 4, 4), np.complex64), "holds complex64; toy takes float32"),
    ],
)
def test_other_arrays_are_refused(toy: Network, array: Array, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        read_images(saved(tmp_path / "images.npy", array), toy, 5)


def test_other_files_are_refused(toy: Network, images: Array, tmp_path: Path) -> None:
    torn, several, text = tmp_path / "torn.npy", tmp_path / "several.npz", tmp_path / "text.npy"
    torn.write_bytes(saved(tmp_path / "images.npy", images).read_bytes()[:1000])
    np.savez(several, images, images)
    text.write_text("images")
    for path, words in (
        (torn, "not a .npy file"),
        (several, "several arrays"),
        (text, "not a .npy file"),
        (tmp_path / "none.npy", "cannot be read"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            read_images(path, toy, None)


def test_outputs_are_written_under_their_names(toy: Network, tmp_path: Path) -> None:
    outputs = [np.ones((2, 5), np.float32), np.zeros(2, np.float32)]
    write_outputs(tmp_path / "out.npz", toy, outputs, force=False)
    with np.load(tmp_path / "out.npz") as read:
        assert {name: read[name].tolist() for name in read} == {"scores": [[1] * 5] * 2, "sum": [0, 0]}
    one = Network("one", toy.path, toy.sha256, toy.input, (Tensor("scores", (5,)),))
    write_outputs(tmp_path / "out.npy", one, outputs[:1], force=False)
    assert (np.load(tmp_path / "out.npy") == 1).all()


def test_a_name_that_does_not_fit_or_is_taken_is_refused(toy: Network, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"2 outputs; give a name that ends in \.npz"):
        check_outputs(tmp_path / "out.npy", toy, force=False)
    (tmp_path / "out.npz").write_bytes(b"mine")
    with pytest.raises(OutputError, match="--force"):
        check_outputs(tmp_path / "out.npz", toy, force=False)
