"""The floor: an HTTP client that sends bytes and reads the response. No retries, no hooks, no cache, no discovery.

It is written for speed only; the cost of the engine is measured relative to it.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp
import msgspec

from steward.local.control_plane import ControlPlane

FIELD_MANAGER = "steward-bench"
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_JSON = {"Content-Type": "application/json"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_QUERY = f"fieldManager={FIELD_MANAGER}&force=true"
_PLURALS = {"ConfigMap": "configmaps", "Secret": "secrets"}

Manifest = dict[str, Any]


class BareClient:
    def __init__(self, plane: ControlPlane) -> None:
        context = ssl.create_default_context(cafile=str(plane.ca_file))
        context.load_cert_chain(plane.client.certificate, plane.client.key)
        self._session = aiohttp.ClientSession(
            plane.url,
            connector=aiohttp.TCPConnector(limit=0, ssl=context),
            headers={"User-Agent": "bench-floor", "Accept": "application/json"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def apply(self, manifest: Manifest) -> bytes:
        """Apply a core object by a forced server-side apply."""
        metadata = manifest["metadata"]
        plural = _PLURALS[manifest["kind"]]
        path = f"/api/v1/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}?{_QUERY}"
        return await self._send("PATCH", path, manifest, _APPLY)

    async def apply_at(self, path: str, manifest: Manifest) -> bytes:
        """Apply any object, or a subresource, by a forced server-side apply."""
        return await self._send("PATCH", f"{path}?{_QUERY}", manifest, _APPLY)

    async def merge(self, path: str, patch: Manifest) -> bytes:
        return await self._send("PATCH", path, patch, _MERGE)

    async def create(self, path: str, manifest: Manifest) -> bytes:
        return await self._send("POST", path, manifest, _JSON)

    async def get(self, path: str) -> bytes:
        async with self._session.get(path) as response:
            response.raise_for_status()
            return await response.read()

    async def delete(self, path: str) -> None:
        async with self._session.delete(path) as response:
            response.raise_for_status()
            await response.read()

    async def _send(self, method: str, path: str, manifest: Manifest, headers: dict[str, str]) -> bytes:
        body = msgspec.json.encode(manifest)
        async with self._session.request(method, path, data=body, headers=headers) as response:
            answer = await response.read()
            if response.status >= 300:
                raise RuntimeError(f"{method} {path} answered {response.status}: {answer.decode()[:400]}")
            return answer

    @asynccontextmanager
    async def lines(self, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of a watch."""
        async with self._session.get(path) as response:
            response.raise_for_status()
            yield _split(response.content.iter_any())


async def _split(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


def config_map(namespace: str, name: str, message: str, labels: dict[str, str] | None = None) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "data": {"message": message, "greeting": "hello", "settings.yaml": "replicas: 3\nlogLevel: info\n"},
    }
