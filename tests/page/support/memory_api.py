"""An API server in memory for tests of the page: lists, watches, reviews and merge patches, with rights by token.

It stands for the real one where the page itself is tested; `tests/page/integration` uses a real control plane.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from steward.kube.cache.rules import Selector, parse_selector
from steward.kube.client.client import Client
from steward.kube.client.discovery import Discovery
from steward.kube.errors import Forbidden, NotFound, Unauthorized
from steward.kube.objects.kinds import EVENT, SECRET, Key, Kind, Manifest, Ref, ref_of
from steward.kube.transport.request import Request, Response
from steward.page.live.watch_rules import WATCHED

SERVED = (
    *WATCHED,
    EVENT,
    SECRET,
    Kind("v1", "ConfigMap"),
    Kind("v1", "ServiceAccount"),
    Kind("authentication.k8s.io/v1", "SelfSubjectReview"),
    Kind("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
)


def plural(kind: str) -> str:
    name = kind.lower()
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"


BY_PATH = {(kind.api_version, plural(kind.kind)): kind for kind in SERVED}


@dataclass
class User:
    name: str = "reader"
    groups: tuple[str, ...] = ("system:authenticated",)
    denied: frozenset[str] = frozenset()
    """Kinds that the user may not read."""
    namespaces: frozenset[str] = frozenset()
    """The only namespaces that the user may read; all if empty."""
    verbs: frozenset[str] = frozenset({"list", "watch", "get", "patch", "create"})
    patched_names: frozenset[str] = frozenset()
    """The only objects that the user may patch; all if empty."""

    def may(self, verb: str, kind: str, namespace: str, name: str = "") -> bool:
        is_open = not self.namespaces or namespace in self.namespaces
        is_named = verb != "patch" or not self.patched_names or name in self.patched_names
        return kind not in self.denied and is_open and is_named and verb in self.verbs


@dataclass(eq=False)
class Watcher:
    kind: Kind
    namespace: str
    selector: Selector
    queue: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)

    def selects(self, manifest: Manifest) -> bool:
        meta = manifest["metadata"]
        is_kind = (manifest["apiVersion"], manifest["kind"]) == self.kind
        is_here = self.namespace in ("", meta.get("namespace", ""))
        return is_kind and is_here and self.selector.matches(meta.get("labels") or {})


class MemoryApi:
    def __init__(self) -> None:
        self.objects: dict[Ref, Manifest] = {}
        self.users: dict[str, User] = {"": User()}
        self.unserved: frozenset[str] = frozenset()
        self.withheld: frozenset[str] = frozenset()
        """Kinds whose first lists are not sent until `send_withheld`."""
        self.requests: list[tuple[str, str]] = []
        self.watchers: list[Watcher] = []
        self.history: list[tuple[int, str, Manifest]] = []
        self._version = 100

    def client(self, token: str = "") -> Client:
        transport = MemoryTransport(self, token)
        return Client(transport, Discovery(transport))

    def apply(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            self._version += 1
            meta = {"namespace": "shop", "generation": 1, **manifest["metadata"]}
            stored = {**manifest, "metadata": {**meta, "resourceVersion": str(self._version)}}
            ref = ref_of(stored)
            self._send("MODIFIED" if ref in self.objects else "ADDED", stored)
            self.objects[ref] = stored

    def delete(self, ref: Ref) -> None:
        self._version += 1
        found = self.objects.pop(ref)
        gone = {**found, "metadata": {**found["metadata"], "resourceVersion": str(self._version)}}
        self._send("DELETED", gone)

    def get(self, kind: Kind, namespace: str, name: str) -> Manifest:
        return self.objects[Ref(kind, Key(namespace, name))]

    def send_withheld(self) -> None:
        kinds, self.withheld = self.withheld, frozenset()
        for watcher in self.watchers:
            if watcher.kind.kind in kinds:
                self.send_initial(watcher)

    def send_initial(self, watcher: Watcher) -> None:
        """The first list of a watch, and the bookmark that ends it."""
        for manifest in self.objects.values():
            if watcher.selects(manifest):
                watcher.queue.put_nowait(json.dumps({"type": "ADDED", "object": manifest}).encode())
        end = {"resourceVersion": self.version, "annotations": {"k8s.io/initial-events-end": "true"}}
        watcher.queue.put_nowait(json.dumps({"type": "BOOKMARK", "object": {"metadata": end}}).encode())

    def cut_watches(self) -> None:
        for watcher in self.watchers:
            watcher.queue.put_nowait(None)

    @property
    def version(self) -> str:
        return str(self._version)

    def _send(self, type_: str, manifest: Manifest) -> None:
        self.history.append((self._version, type_, manifest))
        line = json.dumps({"type": type_, "object": manifest}).encode()
        for watcher in self.watchers:
            if watcher.selects(manifest):
                watcher.queue.put_nowait(line)


class MemoryTransport:
    def __init__(self, api: MemoryApi, token: str) -> None:
        self._api = api
        self._token = token

    async def close(self) -> None:
        return

    async def request(self, request: Request) -> Response:
        self._api.requests.append((request.method, request.path))
        user = self._user()
        if request.path in ("/api", "/apis"):
            return _answer(_discovery(request.path, self._api.unserved))
        kind, namespace, name = _parse(request.path)
        if kind.kind.startswith("SelfSubject"):
            return _answer(self._review(kind, user, json.loads(request.body or b"{}")))
        verb = {"PATCH": "patch", "POST": "create"}.get(request.method, "get" if name else "list")
        self._require(user, verb, kind, namespace, name)
        if verb == "create":
            return _answer(self._created(request))
        if not name:
            return _answer(self._list(kind, namespace, request.query.get("labelSelector", "")))
        return _answer(self._patched(request, Ref(kind, Key(namespace, name))))

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncIterator[bytes]]:
        kind, namespace, _ = _parse(request.path)
        self._api.requests.append(("WATCH", request.path))
        self._require(self._user(), "watch", kind, namespace)
        watcher = Watcher(kind, namespace, parse_selector(request.query.get("labelSelector", "")))
        if request.query.get("sendInitialEvents"):
            if kind.kind not in self._api.withheld:
                self._api.send_initial(watcher)
        else:
            self._send_missed(watcher, int(request.query["resourceVersion"]))
        self._api.watchers.append(watcher)
        try:
            yield _lines(watcher.queue)
        finally:
            self._api.watchers.remove(watcher)

    def _send_missed(self, watcher: Watcher, version: int) -> None:
        for changed_at, type_, manifest in self._api.history:
            if changed_at > version and watcher.selects(manifest):
                watcher.queue.put_nowait(json.dumps({"type": type_, "object": manifest}).encode())

    def _user(self) -> User:
        user = self._api.users.get(self._token)
        if user is None:
            raise Unauthorized(401, "Unauthorized", "Unauthorized", {})
        return user

    def _require(self, user: User, verb: str, kind: Kind, namespace: str, name: str = "") -> None:
        if not user.may(verb, kind.kind, namespace, name):
            raise Forbidden(403, "Forbidden", f"{user.name} may not {verb} {plural(kind.kind)}", {})

    def _review(self, kind: Kind, user: User, body: Any) -> Any:
        if kind.kind == "SelfSubjectReview":
            return {"status": {"userInfo": {"username": user.name, "groups": list(user.groups)}}}
        asked = body["spec"]["resourceAttributes"]
        found = next(each for each in SERVED if plural(each.kind) == asked["resource"])
        where = (asked.get("namespace", ""), asked.get("name", ""))
        return {"status": {"allowed": user.may(asked["verb"], found.kind, *where)}}

    def _list(self, kind: Kind, namespace: str, selector: str) -> Any:
        watcher = Watcher(kind, namespace, parse_selector(selector))
        items = [each for each in self._api.objects.values() if watcher.selects(each)]
        return {"metadata": {"resourceVersion": self._api.version}, "items": items}

    def _created(self, request: Request) -> Manifest:
        manifest: Manifest = json.loads(request.body or b"{}")
        if not request.query.get("dryRun"):
            self._api.apply(manifest)
        return manifest

    def _patched(self, request: Request, ref: Ref) -> Manifest:
        found = self._api.objects.get(ref)
        if found is None:
            raise NotFound(404, "NotFound", f"{ref} not found", {"name": ref.key.name})
        if request.method != "PATCH":
            return found
        merged: Manifest = _merge(found, json.loads(request.body or b"{}"))
        if not request.query.get("dryRun"):
            self._api.apply(merged)
        return merged


def _merge(value: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(value) if isinstance(value, dict) else {}
    for name, each in patch.items():
        merged.pop(name, None) if each is None else merged.update({name: _merge(merged.get(name), each)})
    return merged


def _answer(value: Any) -> Response:
    return Response(200, {}, json.dumps(value).encode())


async def _lines(queue: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes]:
    while (line := await queue.get()) is not None:
        yield line


def _parse(path: str) -> tuple[Kind, str, str]:
    parts = path.strip("/").split("/")
    version, rest = ("/".join(parts[1:3]), parts[3:]) if parts[0] == "apis" else (parts[1], parts[2:])
    namespace = rest[1] if rest[0] == "namespaces" else ""
    resource, *name = rest[2:] if namespace else rest
    return BY_PATH[version, resource], namespace, name[0] if name else ""


def _discovery(root: str, unserved: frozenset[str]) -> Any:
    versions: dict[str, list[Kind]] = {}
    for kind in SERVED:
        if bool(kind.group) == (root == "/apis") and kind.kind not in unserved:
            versions.setdefault(kind.api_version, []).append(kind)
    return {
        "kind": "APIGroupDiscoveryList",
        "items": [_group(name, served) for name, served in versions.items()],
    }


def _group(api_version: str, served: list[Kind]) -> Any:
    group, _, version = api_version.rpartition("/")
    resources = [
        {
            "resource": plural(kind.kind),
            "scope": "Cluster" if kind.kind.startswith("SelfSubject") else "Namespaced",
            "responseKind": {"kind": kind.kind},
            "verbs": [],
            "subresources": [],
        }
        for kind in served
    ]
    return {
        "metadata": {"name": group},
        "versions": [{"version": version, "freshness": "Current", "resources": resources}],
    }
