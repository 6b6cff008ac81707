"""The Ray cluster that this machine is part of: how it is joined, and its nodes by name."""

import os
import signal
import socket
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any

from profet.errors import InputError
from profet.names import suggest
from profet.partition.backends.failures import error_line
from profet.partition.node_names import fits_a_name

INSTALL = "pip install 'profet-latency[ray]'"

_CONNECT_TIMEOUT_S = 5.0
_LEAST_ID = 6
_JOINING = threading.Lock()
_SHOWN_ID = 12
_HOW = "ray start --head on one machine, then ray start --address=HEAD:6379 on each of the others and on this one"


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster that is alive.

    Attributes:
        id: Ray's, in hex.
        name: as in names of units: that of ``ray start --node-name`` or its address, else the beginning of its id.
        address: its IP address.
    """

    id: str
    name: str
    address: str


def join_cluster() -> Any:
    """Connect to the cluster of RAY_ADDRESS, else that of this machine, unless that is done; return the module ray.

    Raises:
        InputError: Ray is not installed, there is no cluster, or it is one of other versions of Ray or Python.
    """
    try:
        import ray
    except ModuleNotFoundError:
        raise InputError(f"units of other machines need Ray, which is not installed; {INSTALL}") from None
    with _JOINING:
        if not ray.is_initialized():
            _join(ray)
    return ray


def _join(ray: Any) -> None:
    address = _address()
    by_main_thread = threading.current_thread() is threading.main_thread()
    on_terminate = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except Exception as error:  # what it raises differs by reason and version
        raise InputError(f"the Ray cluster at {address} cannot be joined: {error_line(error)}") from None
    if by_main_thread:
        signal.signal(signal.SIGTERM, on_terminate)  # Ray puts one of its own in its place
    _keep_off_standard_output()


def _address() -> str:
    """Return where the cluster is, once something was seen to listen there: Ray itself would try for minutes."""
    from ray._private import services

    asked = os.environ.get("RAY_ADDRESS", "")
    if asked.startswith("ray://"):
        raise InputError(
            f"RAY_ADDRESS is {asked[:80]}, for Ray's client; images go through the memory of a node, so this"
            f" machine must be one of the cluster: {_HOW}; then leave RAY_ADDRESS out"
        )
    try:
        address: str = services.canonicalize_bootstrap_address_or_die(None)
        host, _, port = address.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT_S).close()
    except (ConnectionError, OSError, ValueError) as error:
        where = f"RAY_ADDRESS={asked[:80]}" if asked else "no Ray cluster runs on this machine"
        what = f"{where}: no Ray cluster answers there ({error_line(error)})" if asked else where
        raise InputError(f"{what}; start one: {_HOW}") from None
    return address


def _keep_off_standard_output() -> None:
    """Keep Ray from printing what its other processes have to say among a command's results."""
    from ray._private import worker

    worker._worker_logs_enabled = False  # there is no public switch for what it tells of nodes that are lost


def nodes() -> list[Node]:
    """Return the machines of the cluster that are alive, by name.

    Raises:
        InputError: see join_cluster.
    """
    alive = [each for each in join_cluster().nodes() if each["Alive"]]
    counts = Counter(each.get("NodeName") for each in alive)
    found = []
    for each in alive:
        name = each.get("NodeName") or ""
        unique = counts[name] == 1 and fits_a_name(name)
        address = str(each["NodeManagerAddress"])
        found.append(Node(each["NodeID"], name if unique else each["NodeID"][:_SHOWN_ID], address))
    return sorted(found, key=lambda node: node.name)


def find_node(text: str) -> Node:
    """Return the node that is called so: by its name, its address where no other has the same, or its id.

    Raises:
        InputError: there is no such node, or several; see join_cluster too.
    """
    known = nodes()
    named = [node for node in known if node.name == text]
    matching = named or [
        node for node in known if node.address == text or (len(text) >= _LEAST_ID and node.id.startswith(text))
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        several = ", ".join(node.name for node in matching)
        raise InputError(f"--device: several nodes of the Ray cluster are called '{text}': name {several}")
    raise InputError(
        f"--device: the Ray cluster has no node '{text}' that is alive;"
        f" {suggest(text, [node.name for node in known])}; profet partition units --ray lists them"
    )


def is_alive(node: Node) -> bool:
    """Whether the cluster still counts a node as alive, which it does for some seconds after its end."""
    return any(each["NodeID"] == node.id and each["Alive"] for each in join_cluster().nodes())
