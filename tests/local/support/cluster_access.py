"""Access to a cluster with the bootstrap client of `steward.local`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steward.local.bootstrap.api import connect
from steward.local.control_plane import ControlPlane

Object = dict[str, Any]


@dataclass(frozen=True)
class Cluster:
    plane: ControlPlane

    async def create(self, path: str, body: Object) -> Object:
        return await self._call("POST", path, body)

    async def merge(self, path: str, body: Object) -> Object:
        return await self._call("PATCH", path, body)

    async def delete(self, path: str) -> None:
        await self._call("DELETE", path, None)

    async def get(self, path: str) -> Any:
        async with connect(self.plane.url, self.plane.ca_file, self.plane.client) as api:
            return await api.get(path)

    async def wait(self, path: str, condition: Callable[[Any], bool], seconds: float = 120) -> Any:
        """Wait until `condition` holds for the object at `path` (None if it does not exist), and return it."""
        deadline = time.monotonic() + seconds
        while not condition(found := await self.get(path)):
            assert time.monotonic() < deadline, f"{path} does not meet the condition: {found}"
            await asyncio.sleep(0.05)
        return found

    async def _call(self, method: str, path: str, body: Object | None) -> Object:
        async with connect(self.plane.url, self.plane.ca_file, self.plane.client) as api:
            kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
            async with api.session.request(method, path, json=body, headers={"Content-Type": kind}) as answer:
                result: Object = await answer.json()
                assert answer.ok, result
                return result
