"""What clients of a service ask in these tests."""

import json
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4

import httpx

from profet.profiles.example import example_profile

PROFILE: dict[str, Any] = json.loads(example_profile().to_json())
TARGET = "p3.2xlarge"


def measurement(**more: Any) -> dict[str, Any]:
    """A measurement that nobody else sends."""
    latency_ms = 60 + uuid4().int % 10**9 / 10**9
    return {"id": str(uuid4()), "profile": PROFILE, "target": TARGET, "latency": latency_ms, **more}


@dataclass(frozen=True)
class Client:
    """One who asks a service, with a key.

    Args:
        address: of the API.
        key: the headers that carry it.
    """

    address: str
    key: dict[str, str]
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def predict(self, key: dict[str, str] | None = None) -> httpx.Response:
        """Ask for predictions, which need neither key nor store; a key that comes with it is looked up."""
        return self.http.post(f"{self.address}/predictions", json={"profile": PROFILE}, headers=key)

    def record(self, body: dict[str, Any]) -> httpx.Response:
        """Send a measurement."""
        return self.http.post(f"{self.address}/measurements", json=body, headers=self.key)

    def own(self) -> httpx.Response:
        """List what this key sent."""
        return self.http.get(f"{self.address}/measurements", params={"limit": 10_000}, headers=self.key)

    def forget(self, name: str) -> httpx.Response:
        """Forget one of them."""
        return self.http.delete(f"{self.address}/measurements/{name}", headers=self.key)

    def get(self, path: str) -> httpx.Response:
        """Ask without a key."""
        return self.http.get(f"{self.address}/{path}")
