"""UnitActor: what runs on a node for one of its units; it answers as a unit's process does."""

import sys

from profet.errors import ProfetError
from profet.partition.backends.protocol import Array
from profet.partition.backends.registry import backend
from profet.partition.execution.messages import Answer, Failed, Load, Request
from profet.partition.execution.serving import Server
from profet.partition.execution.worker_process import pin
from profet.partition.networks.network import Network
from profet.partition.remote.network_files import Bytes, Inbox
from profet.partition.units import Unit


class UnitActor:
    """Holds the loaded network of one unit. Images come with each request, outputs go back with the answer."""

    def __init__(self, unit: Unit, version_here: str | None) -> None:
        """Stay on the unit's cores.

        Args:
            unit: what runs.
            version_here: of its runtime on the owner's machine; None where that has none.
        """
        sys.stdout = sys.stderr  # what a framework prints is for Ray's log
        self._refused, warnings = pin(unit.cores)
        version = backend(unit.backend).version()
        if version_here is not None and version != version_here:
            here = f"this machine has {version_here}: outputs may differ a little"
            warnings = (*warnings, f"runs {unit.backend} {version}, and {here}")
        self._server = Server(None, warnings)
        self._inbox: Inbox | None = None

    def expect(self, network: Network, files: list[str]) -> bool:
        """Prepare for a network's files; return whether they are here already."""
        self._inbox = Inbox(network, files)
        return self._inbox.find() is not None

    def take(self, name: str, piece: Bytes) -> None:
        """Add a piece to one of the files; raises OutputError."""
        if self._inbox is not None:
            self._inbox.take(name, piece)

    def load(self, request: Load) -> Answer:
        """Load the network, of whose files every piece was sent."""
        if self._refused:
            return Failed(self._refused, out_of_memory=False)
        if self._inbox is None:  # a unit that needs no file
            return self._server.answer(request)
        try:
            self._inbox.keep()
            network = self._inbox.find()
        except ProfetError as error:
            return Failed(str(error), out_of_memory=False)
        if network is None:
            changed = f"the files of {request.network.name} changed on their way to the node; try again"
            return Failed(changed, out_of_memory=False)
        return self._server.answer(Load(request.unit, network, 0))

    def answer(self, request: Request) -> Answer:
        """Carry out a request that needs no images."""
        return self._server.answer(request)

    def run(self, images: Array) -> tuple[Answer, list[Array]]:
        """Run images; return the outputs too."""
        return self._server.run_images(images)

    def stop(self) -> None:
        """Give back what the network holds."""
        self._server.close()
