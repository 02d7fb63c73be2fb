"""A minimal HTTP client for bootstrapping a cluster. Not `steward.kube`: a bug there must not keep the control plane on
which it is tested from starting."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from steward.local.bootstrap.objects import Object
from steward.local.certificates import Pair

_COLLECTIONS = {"Node": "/api/v1/nodes", "StorageClass": "/apis/storage.k8s.io/v1/storageclasses"}

NODES = _COLLECTIONS["Node"]


@dataclass(frozen=True)
class BootstrapClient:
    session: aiohttp.ClientSession

    async def is_healthy(self, url: str) -> bool:
        """Whether the health endpoint answers 200."""
        try:
            async with self.session.get(url, timeout=aiohttp.ClientTimeout(total=2)) as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def get(self, path: str) -> Any:
        """The object or list at `path`; None if it does not exist."""
        async with self.session.get(path) as response:
            if response.status == 404:
                return None
            response.raise_for_status()
            return await response.json()

    async def apply(self, desired: Object) -> None:
        path = f"{_COLLECTIONS[desired['kind']]}/{desired['metadata']['name']}"
        async with self.session.patch(
            path,
            params={"fieldManager": "steward-local", "force": "true"},
            data=json.dumps(desired),
            headers={"Content-Type": "application/apply-patch+yaml"},
        ) as response:
            response.raise_for_status()

    async def post(self, path: str, body: Object) -> Any:
        """POST `body` and return the response."""
        async with self.session.post(path, json=body) as response:
            response.raise_for_status()
            return await response.json()

    async def delete(self, path: str) -> None:
        async with self.session.delete(path) as response:
            if response.status != 404:
                response.raise_for_status()


@asynccontextmanager
async def connect(url: str, ca: Path, client: Pair) -> AsyncIterator[BootstrapClient]:
    context = ssl.create_default_context(cafile=str(ca))
    context.load_cert_chain(client.certificate, client.key)
    agent = {"User-Agent": "steward-local"}
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(url, connector=connector, headers=agent) as session:
        yield BootstrapClient(session)
