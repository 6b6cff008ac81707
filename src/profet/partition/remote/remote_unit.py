"""RemoteUnit: an actor on a unit's node, seen from here, and what Ray says when it is lost."""

import contextlib
from typing import Any

from profet.errors import ProfetError
from profet.partition.backends.failures import error_line
from profet.partition.backends.protocol import Array
from profet.partition.backends.registry import backend
from profet.partition.discovery import SIMULATED
from profet.partition.execution.messages import Answer, Failed, Gone, Load, Request
from profet.partition.execution.worker_process import THREAD_LIMITS
from profet.partition.networks.network import Network
from profet.partition.remote.actor import UnitActor
from profet.partition.remote.cluster import Node, find_node, is_alive, join_cluster
from profet.partition.remote.network_files import network_files, pieces
from profet.partition.units import Unit

_STOP_TIMEOUT_S = 1.0


class RemoteUnit:
    """Starts an actor on the node, which takes none of the resources that Ray counts: a unit says what it uses."""

    def __init__(self, unit: Unit) -> None:
        """Start the actor.

        Raises:
            InputError: the node is not there.
        """
        self._ray = join_cluster()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._unit = unit
        self._node: Node = find_node(unit.node or "")
        limits = {} if unit.worker_threads is None else dict.fromkeys(THREAD_LIMITS, str(unit.worker_threads))
        actor = self._ray.remote(UnitActor).options(
            num_cpus=0,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(self._node.id, soft=False),
            runtime_env={"env_vars": limits} if limits else None,
        )
        self._actor = actor.remote(unit, backend(unit.backend).version())

    def load(self, request: Load) -> Answer:
        """Load a network there; its files are sent first where the node lacks them."""
        try:
            if self._unit.backend != SIMULATED:
                self._send(request.network)
        except ProfetError as error:
            return Failed(str(error), out_of_memory=False)
        answer: Answer = self._ray.get(self._actor.load.remote(request))
        return answer

    def _send(self, network: Network) -> None:
        files = network_files(network)
        if self._ray.get(self._actor.expect.remote(network, files)):
            return
        for name, piece in pieces(network, files):
            self._ray.get(self._actor.take.remote(name, piece))

    def answer(self, request: Request) -> Answer:
        """Let it carry out a request that needs no images."""
        answer: Answer = self._ray.get(self._actor.answer.remote(request))
        return answer

    def begin(self, images: Array) -> Any:
        """Send images to be run after those before; return a receipt for ``outcome``."""
        return self._actor.run.remote(images)

    def outcome(self, receipt: Any) -> tuple[Answer, list[Array]]:
        """Wait for what came of images; return the answer, and views of the outputs where it is a ChunkDone."""
        answer: Answer
        answer, outputs = self._ray.get(receipt)
        return answer, outputs

    def stop(self) -> None:
        """Give back what it holds, and end it."""
        with contextlib.suppress(Exception):
            self._ray.get(self._actor.stop.remote(), timeout=_STOP_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(Exception):  # it may have ended, and so may Ray
            self._ray.kill(self._actor)

    def failure(self, error: Exception) -> Answer:
        """Return the answer to a request that ended in an error: Gone where the actor is lost."""
        errors = self._ray.exceptions
        if isinstance(error, errors.RayTaskError) and error.cause is not None:
            return Failed(error_line(error.cause), out_of_memory=isinstance(error.cause, MemoryError))
        if isinstance(error, errors.ObjectStoreFullError | errors.OutOfDiskError):
            return Failed(f"Ray's object store is full: {error_line(error)}", out_of_memory=True)
        if not isinstance(error, errors.RayError) or isinstance(error, errors.RayTaskError):
            return Failed(error_line(error), out_of_memory=isinstance(error, MemoryError))
        return self._loss(str(error).strip())

    def _loss(self, text: str) -> Gone:
        """Say how the actor was lost, as far as Ray tells."""
        node = self._node.name
        if not is_alive(self._node):
            return Gone(f"node {node} was lost")
        if "memory pressure" in text:
            return Gone(f"its process on node {node} was ended by Ray because memory ran out there", killed=True)
        if "creation task" in text:
            return Gone(f"its process on node {node} could not start ({text.splitlines()[-1][:200]})")
        return Gone(f"its process on node {node} crashed, was killed or cannot be reached any more")
