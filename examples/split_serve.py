"""A Ray Serve deployment that gathers requests into batches and splits each over several units.

serve run split_serve:app network=mine.onnx units=cpu,ray://gpu-box:gpu0
"""

import asyncio
import io

import numpy as np
from ray import serve
from ray.serve import Application
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

import profet
from profet.errors import InputError


@serve.deployment(max_ongoing_requests=1000, ray_actor_options={"num_cpus": 0})
class Split:
    """Takes images as a .npy file, answers with what the network returns for them as another."""

    def __init__(self, network: str, units: str, table: str | None = None, latency_ms: float = 100.0) -> None:
        """Load the network on every unit; see profet.Partitioner and profet.RequestLoop."""
        self.partitioner = profet.Partitioner(network, units, table, largest_batch=64)
        self.loop = profet.RequestLoop(self.partitioner, latency_ms)

    async def __call__(self, request: Request) -> Response:
        """Answer a request; many wait here at once, and the loop makes batches of them."""
        try:
            images = np.load(io.BytesIO(await request.body()), allow_pickle=False)
            outputs = await asyncio.wrap_future(self.loop.submit(images))
        except profet.OverloadedError as error:
            return PlainTextResponse(str(error), 503)
        except InputError as error:
            return PlainTextResponse(str(error), 400)
        except (ValueError, EOFError):
            return PlainTextResponse("send images as a .npy file, as numpy.save writes it", 400)
        answer = io.BytesIO()
        np.save(answer, outputs[0], allow_pickle=False)
        return Response(answer.getvalue(), media_type="application/octet-stream")

    def __del__(self) -> None:
        """End the units."""
        self.loop.close()
        self.partitioner.close()


def app(arguments: dict[str, str]) -> Application:
    """Build the application from what follows it on the command line."""
    latency_ms = float(arguments.get("latency_ms", "100"))
    return Split.bind(arguments["network"], arguments["units"], arguments.get("table"), latency_ms)
