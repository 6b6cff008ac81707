"""Performance tables of the original, uploaded as they are: the plan that the command line makes of them."""

from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.conftest import Run, document

NETWORKS = ("densenet-121", "mobilenet", "resnet-18", "resnet-50", "squeezenet_v1.0", "vgg-16", "vgg-19")


@pytest.mark.parametrize("network", NETWORKS)
def test_a_table_of_the_original_is_planned_with_as_the_command_does(
    api: httpx.Client, service: str, profet: Run, partition_tables: Path, tmp_path: Path, network: str
) -> None:
    original, imported = partition_tables / f"table_{network}", tmp_path / "table.json"
    assert profet("partition", "import", original, "--network", network, "-o", imported).returncode == 0
    printed = document(profet("partition", "plan", "--table", imported, "--batch", "100", "--json"))
    content = (original.name, original.read_bytes())
    uploaded = api.post("/partition-plans", data={"batch": "100"}, files={"table": content})
    assert uploaded.json() == printed
    page = httpx.post(f"{service}/partition", data={"table": "file", "batch": "100"}, files={"file": content}).text
    assert f'value="{original.name}"' in page
    assert f'"network":"{network}"' in unescape(page)
    assert f"{printed['makespan_ms']:.4g}" in page
