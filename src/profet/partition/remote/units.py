"""Units of other nodes: found by name, and what is known of them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from profet.errors import InputError
from profet.partition.backends.failures import error_line
from profet.partition.node_names import RAY, split_node
from profet.partition.remote import there
from profet.partition.remote.cluster import Node, find_node, join_cluster, nodes
from profet.partition.remote.there import FoundThere, UnitThere
from profet.partition.units import Unit

_ASK_TIMEOUT_S = 60.0
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A node, and what it has or why that is not known."""

    node: Node
    there: FoundThere | None
    problem: str = ""


def resolve_remote(name: str) -> Unit:
    """Return the unit of another node that a name such as ``ray://NODE:gpu0`` stands for.

    Raises:
        InputError: there is no such node or unit, or the node has another version of Profet.
    """
    text, of_node = split_node(name)
    node = find_node(text or "")
    unit = _unit_there(node, of_node).unit
    return replace(unit, node=node.name, name=f"{RAY}{node.name}:{unit.name}")


def unit_there(unit: Unit) -> UnitThere:
    """Return a unit of another node as that knows it.

    Raises:
        InputError: as resolve_remote.
    """
    text, of_node = split_node(unit.full_name)
    return _unit_there(find_node(text or ""), of_node)


def look_at_nodes() -> list[LookedAt]:
    """Ask every node of the cluster what it has; one that cannot tell is told of.

    Raises:
        InputError: see join_cluster.
    """
    known = nodes()
    with ThreadPoolExecutor(max_workers=max(1, len(known))) as pool:
        return list(pool.map(_looked_at, known))


def _looked_at(node: Node) -> LookedAt:
    try:
        _check_version(node)
        return LookedAt(node, _asked(node, there.look_there))
    except InputError as error:
        return LookedAt(node, None, str(error))


@lru_cache(maxsize=256)
def _unit_there(node: Node, of_node: str) -> UnitThere:
    _check_version(node)
    found = _asked(node, there.resolve_there, of_node)
    if isinstance(found, str):
        told = found.removeprefix("--device: ")
        raise InputError(f"--device: {RAY}{node.name}:{of_node[:80]}: on node {node.name}: {told}")
    return found


@lru_cache(maxsize=256)
def _check_version(node: Node) -> None:
    ours, theirs = there.profet_version(), _asked(node, there.profet_version)
    if theirs != ours:
        raise InputError(
            f"{RAY}{node.name}: has Profet {theirs}, and here is {ours}; install the same on both, there with"
            f" pip install 'profet-latency[ray]=={ours}'"
        )


def _asked(node: Node, question: Callable[..., _Answer], *arguments: str) -> _Answer:
    """Let a node answer.

    Raises:
        InputError: it has no Profet that knows the question, or does not answer.
    """
    ray = join_cluster()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(node.id, soft=False)
    task = ray.remote(question).options(num_cpus=0, max_retries=0, scheduling_strategy=here)
    try:
        answer: _Answer = ray.get(task.remote(*arguments), timeout=_ASK_TIMEOUT_S)
    except ray.exceptions.GetTimeoutError:
        late = f"did not answer for {_ASK_TIMEOUT_S:g} s; ray status tells how it is"
        raise InputError(f"{RAY}{node.name}: {late}") from None
    except Exception as error:  # Ray's own, and what importing there raises
        if "No module named" in str(error) or "has no attribute" in str(error):
            raise InputError(
                f"{RAY}{node.name}: lacks Profet, or what this version of it needs; there:"
                f" pip install 'profet-latency[ray]=={there.profet_version()}'"
            ) from None
        raise InputError(f"{RAY}{node.name}: cannot be asked what it has: {error_line(error)}") from None
    return answer
