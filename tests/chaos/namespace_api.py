"""One namespace as its user sees it: applies manifests, deletes objects, lists everything. Calls run in threads."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.api_server import ApiResponse, ApiServer, Kind

Manifest = dict[str, Any]

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_LIST_SECONDS = 60.0
_WORKLOADS = ("deployments", "statefulsets", "pods")
CASCADES = {"background": "Background", "foreground": "Foreground", "orphan": "Orphan"}


class RejectedCallError(Exception):
    """The API server rejected a call of the user; the message is the server's."""


class NamespaceApi:
    def __init__(self, server: ApiServer, namespace: str) -> None:
        self.server = server
        self.namespace = namespace

    async def create(self) -> None:
        metadata = {"name": self.namespace, "labels": {"steward.local/test": "true"}}
        await self._call("POST", "/api/v1/namespaces", {"metadata": metadata})
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default"
        async with asyncio.timeout(120):
            while (await self._send("GET", path)).status != 200:
                await asyncio.sleep(0.05)

    async def apply(self, manifest: Manifest) -> None:
        path = self._kind(manifest["kind"]).path(self.namespace, manifest["metadata"]["name"])
        await self._call("PATCH", f"{path}?fieldManager=user&force=true", manifest, _APPLY)

    async def create_object(self, manifest: Manifest) -> bool:
        """Whether it was created; False if the name is taken."""
        path = self._kind(manifest["kind"]).path(self.namespace)
        answer = await self._send("POST", f"{path}?fieldManager=user", manifest)
        if answer.status not in (201, 409):
            raise RejectedCallError(f"POST {path}: {answer.body.decode()}")
        return answer.status == 201

    async def patch(self, resource: str, name: str, patch: Manifest, manager: str = "user") -> None:
        """A merge patch; an object that is gone needs none."""
        path = self._kind(resource).path(self.namespace, name)
        answer = await self._send("PATCH", f"{path}?fieldManager={manager}", patch, _MERGE)
        if answer.status not in (200, 404, 409):
            raise RejectedCallError(f"PATCH {path}: {answer.body.decode()}")

    async def delete(self, resource: str, name: str, cascade: str = "background") -> None:
        path = self._kind(resource).path(self.namespace, name)
        answer = await self._send("DELETE", path, {"propagationPolicy": CASCADES[cascade]})
        if answer.status not in (200, 202, 404):
            raise RejectedCallError(f"DELETE {path}: {answer.body.decode()}")

    async def delete_unless(self, is_managed: Callable[[Manifest], bool], resource: str, name: str) -> None:
        """Delete an object of the user; not one that has become the operator's."""
        found = await self.get(resource, name)
        if found is not None and not is_managed(found):
            await self.delete(resource, name)

    async def get(self, resource: str, name: str) -> Manifest | None:
        answer = await self._send("GET", self._kind(resource).path(self.namespace, name))
        found: Manifest | None = answer.json() if answer.status == 200 else None
        return found

    async def objects(self, *resources: str) -> list[Manifest]:
        return await asyncio.to_thread(self._list, resources)

    def _list(self, resources: Sequence[str]) -> list[Manifest]:
        found: list[Manifest] = []
        for resource in resources:
            kind = self._kind(resource)
            items = self._items(kind.path(self.namespace))
            found += [{"apiVersion": kind.api_version, "kind": kind.kind, **item} for item in items]
        return found

    def _items(self, path: str) -> list[Manifest]:
        """Right after the definition of a kind, and after a restart, the API server may reject a list for a moment."""
        deadline = time.monotonic() + _LIST_SECONDS
        while (answer := self.server.call("GET", path)).status != 200:
            if time.monotonic() > deadline:
                raise RejectedCallError(f"GET {path}: {answer.body.decode()}")
            time.sleep(0.2)
        items: list[Manifest] = answer.json()["items"]
        return items

    async def release(self, *custom: str) -> None:
        """Delete custom objects and workloads at once, without finalizers; do not wait."""
        for resource in custom:
            for each in await self.objects(resource):
                name = each["metadata"]["name"]
                if each["metadata"].get("finalizers"):
                    await self.patch(resource, name, {"metadata": {"finalizers": None}})
                await self.delete(resource, name)
        for resource in _WORKLOADS:
            await self._send(
                "DELETE", self._kind(resource).path(self.namespace), {"propagationPolicy": "Background"}
            )

    def _kind(self, resource: str) -> Kind:
        kind = self.server.kind(resource)
        assert kind is not None, f"the API server has no resource {resource}"
        return kind

    async def _send(
        self, method: str, path: str, body: Any = None, content: str = "application/json"
    ) -> ApiResponse:
        return await asyncio.to_thread(
            lambda: self.server.call(method, path, body, **{"Content-Type": content})
        )

    async def _call(self, method: str, path: str, body: Any, content: str = "application/json") -> None:
        answer = await self._send(method, path, body, content)
        if answer.status >= 300:
            raise RejectedCallError(f"{method} {path}: {answer.body.decode()}")
