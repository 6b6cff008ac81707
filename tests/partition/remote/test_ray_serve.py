"""The documented deployment of Ray Serve, asked over HTTP; by hand, since ray[serve] is 40 packages more."""

import io
import socket
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from profet.partition.backends.protocol import Array
from profet.partition.discovery import resolve_units
from profet.partition.execution.partitioner import Partitioner
from profet.partition.networks.find import find_network
from tests.conftest import REPOSITORY
from tests.partition.remote.conftest import RayCluster, even_table
from tests.partition.small_models import small_classifier

serve = pytest.importorskip("ray.serve", reason="by hand: pip install 'ray[serve]'", exc_type=ImportError)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_requests_over_http_are_answered_by_units_of_two_machines(
    cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "examples"))
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path / "data"))
    network = str(small_classifier(tmp_path / "small.onnx"))
    images = np.random.default_rng(3).standard_normal((8, 4, 3, 8, 8), dtype=np.float32)
    with Partitioner(network, "onnxruntime:cpu") as partitioner:
        expected = [partitioner.run(each)[0] for each in images]
    table = tmp_path / "table.json"
    units = "onnxruntime:cpu,ray://b:onnxruntime:cpu"
    even_table(find_network(network), resolve_units(units)).save(table)
    port = free_port()
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    import split_serve

    arguments = {"network": network, "units": units, "table": str(table)}
    serve.run(split_serve.app(arguments))

    def ask(body: bytes) -> Array:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", data=body, timeout=60) as answer:
            return np.load(io.BytesIO(answer.read()), allow_pickle=False)

    def as_file(array: Array) -> bytes:
        content = io.BytesIO()
        np.save(content, array)
        return content.getvalue()

    try:
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, map(as_file, images)))
        assert len(cluster.actors(cluster.b)) == 1
        for one, other in zip(answers, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(as_file(images[0, :, :1]))
        assert refused.value.code == 400
        assert "takes (batch, 3, 8, 8)" in refused.value.read().decode()
    finally:
        serve.shutdown()
        sys.modules.pop("split_serve", None)
    assert not cluster.actors(cluster.b)
