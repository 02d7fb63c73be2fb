"""Which path a kind is served under, asked of the server and remembered.

One request per root brings everything where the server has aggregated discovery; elsewhere, and for a group version
that the aggregate calls stale, its own list is read. So a broken aggregated API fails its own kinds and no others. A
miss asks the server again, but not more often than every `REFRESH_SECONDS`.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from steward.kube.client import decode
from steward.kube.clock import Clock, SystemClock
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind
from steward.kube.transport.request import Messenger, Request, Response

REFRESH_SECONDS = 3.0

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join((_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), "application/json"))


# Nearly every name is a DNS label or subdomain, which needs no quoting, and quoting costs more than all the rest.
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9.-]+")


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quote(name, safe="")


class Resource(Struct, frozen=True, kw_only=True):
    group: str
    version: str
    plural: str
    namespaced: bool
    verbs: frozenset[str]
    subresources: frozenset[str] = frozenset()

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def collection(self, namespace: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace and self.namespaced:
            return f"{root}/namespaces/{_quoted(namespace)}/{self.plural}"
        return f"{root}/{self.plural}"

    def path(self, key: Key, subresource: str = "") -> str:
        if self.namespaced and not key.namespace:
            raise ValueError(f"{self.qualified} {key.name!r} needs a namespace")
        path = f"{self.collection(key.namespace)}/{_quoted(key.name)}"
        return f"{path}/{subresource}" if subresource else path


class _Name(Struct):
    name: str = ""


class _ResponseKind(Struct):
    kind: str = ""


class _Subresource(Struct):
    subresource: str


class _AggregatedResource(Struct, rename="camel"):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = "Namespaced"
    verbs: list[str] = []
    subresources: list[_Subresource] = []


class _Version(Struct):
    version: str
    resources: list[_AggregatedResource] = []
    freshness: str = "Current"


class _Group(Struct):
    metadata: _Name
    versions: list[_Version] = []


class _Aggregate(Struct):
    kind: str
    items: list[_Group] = []


class _ListedResource(Struct):
    name: str
    kind: str
    namespaced: bool = False
    verbs: list[str] = []


class _ResourceList(Struct):
    resources: list[_ListedResource] = []


class Discovery:
    def __init__(self, transport: Messenger, clock: Clock | None = None) -> None:
        self._transport = transport
        self._clock = clock or SystemClock()
        self._known: dict[Kind, Resource] = {}
        self._stale: set[str] = set()
        self._doubted: set[Kind] = set()
        self._is_aggregated = True
        self._asked: dict[str, float] = {}
        self._asking = asyncio.Lock()

    async def resource(self, kind: Kind) -> Resource:
        if kind not in self._known or kind in self._doubted:
            async with self._asking:
                if kind not in self._known or kind in self._doubted:
                    await self._look_up(kind)
        return self._known[kind]

    async def named(self, kind: str) -> tuple[Kind, ...]:
        """The kinds of a name whose group nobody wrote down, one for each group that has it."""
        async with self._asking:
            for root in ("/api", "/apis"):
                if self._is_aggregated and self._due(root):
                    await self._read_aggregate(root)
        by_group = {known.group: known for known in reversed(self._known) if known.kind == kind}
        return tuple(by_group.values())

    def doubt(self, kind: Kind) -> None:
        """The server answered that it has nothing at this kind's path: ask it again before the next use."""
        self._doubted.add(kind)

    async def _look_up(self, kind: Kind) -> None:
        if self._is_aggregated and self._due("/apis" if kind.group else "/api"):
            await self._read_aggregate("/apis" if kind.group else "/api")
        if not self._is_aggregated or kind.api_version in self._stale:
            await self._read_version(kind)
        if kind not in self._known:
            raise NoSuchKind(f"the server does not serve {kind}; install its CustomResourceDefinition first")

    def _due(self, path: str) -> bool:
        now = self._clock.monotonic()
        if now - self._asked.get(path, float("-inf")) < REFRESH_SECONDS:
            return False
        self._asked[path] = now
        return True

    async def _read_aggregate(self, root: str) -> None:
        try:
            answer = await self._get(root, _ACCEPT)
        except BaseException:
            # A question that was not answered does not count against the limit.
            self._asked.pop(root, None)
            raise
        groups = read_aggregate(answer.body)
        if groups is None:
            self._is_aggregated = False
            return
        grouped = root == "/apis"
        self._known = self._others(lambda kind: bool(kind.group) is grouped) | groups.known
        self._stale = groups.stale if grouped else self._stale

    async def _read_version(self, kind: Kind) -> None:
        path = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
        if not self._due(path):
            return
        try:
            known = read_version(kind.api_version, (await self._get(path, "application/json")).body)
        except NotFound:
            known = {}
        except BaseException:
            self._asked.pop(path, None)
            raise
        self._known = self._others(lambda other: other.api_version == kind.api_version) | known

    def _others(self, asked_about: Callable[[Kind], bool]) -> dict[Kind, Resource]:
        """What stays known when the server has answered about some kinds."""
        self._doubted = {kind for kind in self._doubted if not asked_about(kind)}
        return {kind: resource for kind, resource in self._known.items() if not asked_about(kind)}

    async def _get(self, path: str, accept: str) -> Response:
        return await self._transport.request(Request(method="GET", path=path, headers={"Accept": accept}))


class Groups(Struct):
    known: dict[Kind, Resource]
    stale: set[str]


def read_aggregate(body: bytes) -> Groups | None:
    """None when the server answered with the old group list, which says nothing about resources."""
    aggregate = decode.one(body, _Aggregate)
    if aggregate.kind != "APIGroupDiscoveryList":
        return None
    groups = Groups({}, set())
    for group in aggregate.items:
        for version in group.versions:
            api_version = f"{group.metadata.name}/{version.version}".removeprefix("/")
            if version.freshness != "Current":
                groups.stale.add(api_version)
            groups.known |= {
                Kind(api_version, resource.response_kind.kind): _resource(api_version, resource)
                for resource in version.resources
                if resource.response_kind is not None
            }
    return groups


def _resource(api_version: str, found: _AggregatedResource) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=found.resource,
        namespaced=found.scope == "Namespaced",
        verbs=frozenset(found.verbs),
        subresources=frozenset(sub.subresource for sub in found.subresources),
    )


def read_version(api_version: str, body: bytes) -> dict[Kind, Resource]:
    listed = decode.one(body, _ResourceList).resources
    group, _, version = api_version.rpartition("/")
    subresources: dict[str, set[str]] = {}
    for entry in listed:
        plural, slash, name = entry.name.partition("/")
        if slash:
            subresources.setdefault(plural, set()).add(name)
    return {
        Kind(api_version, entry.kind): Resource(
            group=group,
            version=version,
            plural=entry.name,
            namespaced=entry.namespaced,
            verbs=frozenset(entry.verbs),
            subresources=frozenset(subresources.get(entry.name, ())),
        )
        for entry in listed
        if "/" not in entry.name
    }
