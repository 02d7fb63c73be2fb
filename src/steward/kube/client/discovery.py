"""Discovers the API path of each kind, and caches it.

With aggregated discovery one request per root returns all kinds. Without it, and for a group version that the aggregate
marks as stale, the resource list of the group version is read, so that a broken aggregated API affects only its own
kinds. An unknown kind triggers a new request, at most every `REFRESH_SECONDS`.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from steward.kube.client import decode
from steward.kube.clock import Clock, SystemClock
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind
from steward.kube.transport.request import ApiTransport, Request, Response

REFRESH_SECONDS = 3.0

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
_ACCEPT = ",".join((_AGGREGATED.format("v2"), _AGGREGATED.format("v2beta1"), "application/json"))


# Nearly every name is a DNS label or subdomain. It needs no quoting, which would cost more than the rest of the path.
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
    short_names: frozenset[str] = frozenset()

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
    short_names: list[str] = []


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
    def __init__(self, transport: ApiTransport, clock: Clock | None = None) -> None:
        self._transport = transport
        self._clock = clock or SystemClock()
        self._resources: dict[Kind, Resource] = {}
        self._stale: set[str] = set()
        self._invalidated: set[Kind] = set()
        self._is_aggregated = True
        self._requested_at: dict[str, float] = {}
        self._lock = asyncio.Lock()

    async def resource(self, kind: Kind) -> Resource:
        if kind not in self._resources or kind in self._invalidated:
            async with self._lock:
                if kind not in self._resources or kind in self._invalidated:
                    await self._find_resource(kind)
        return self._resources[kind]

    async def kinds_named(self, kind: str) -> tuple[Kind, ...]:
        """The kinds with this name, one for each API group that has it."""
        await self.served_kinds()
        by_group = {known.group: known for known in reversed(self._resources) if known.kind == kind}
        return tuple(by_group.values())

    async def served_kinds(self) -> Mapping[Kind, Resource]:
        """Every kind of every version, as far as the server has aggregated discovery."""
        async with self._lock:
            for root in ("/api", "/apis"):
                if self._is_aggregated and self._may_refresh(root):
                    await self._read_aggregate(root)
        return self._resources

    def invalidate(self, kind: Kind) -> None:
        """The server serves nothing at this kind's path: discover it again before the next use."""
        self._invalidated.add(kind)

    async def _find_resource(self, kind: Kind) -> None:
        if self._is_aggregated and self._may_refresh("/apis" if kind.group else "/api"):
            await self._read_aggregate("/apis" if kind.group else "/api")
        if not self._is_aggregated or kind.api_version in self._stale:
            await self._read_version(kind)
        if kind not in self._resources:
            raise NoSuchKind(f"the server does not serve {kind}; install its CustomResourceDefinition first")

    def _may_refresh(self, path: str) -> bool:
        now = self._clock.monotonic()
        if now - self._requested_at.get(path, float("-inf")) < REFRESH_SECONDS:
            return False
        self._requested_at[path] = now
        return True

    async def _read_aggregate(self, root: str) -> None:
        try:
            response = await self._get(root, _ACCEPT)
        except BaseException:
            # A failed request does not count against the limit.
            self._requested_at.pop(root, None)
            raise
        groups = parse_aggregate(response.body)
        if groups is None:
            self._is_aggregated = False
            return
        grouped = root == "/apis"
        self._resources = self._resources_except(lambda kind: bool(kind.group) is grouped) | groups.resources
        self._stale = groups.stale if grouped else self._stale

    async def _read_version(self, kind: Kind) -> None:
        path = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
        if not self._may_refresh(path):
            return
        try:
            resources = parse_resource_list(
                kind.api_version, (await self._get(path, "application/json")).body
            )
        except NotFound:
            resources = {}
        except BaseException:
            self._requested_at.pop(path, None)
            raise
        self._resources = (
            self._resources_except(lambda other: other.api_version == kind.api_version) | resources
        )

    def _resources_except(self, is_refreshed: Callable[[Kind], bool]) -> dict[Kind, Resource]:
        """The cached resources without those that the server has just answered for."""
        self._invalidated = {kind for kind in self._invalidated if not is_refreshed(kind)}
        return {kind: resource for kind, resource in self._resources.items() if not is_refreshed(kind)}

    async def _get(self, path: str, accept: str) -> Response:
        return await self._transport.request(Request(method="GET", path=path, headers={"Accept": accept}))


class DiscoveredGroups(Struct):
    resources: dict[Kind, Resource]
    stale: set[str]


def parse_aggregate(body: bytes) -> DiscoveredGroups | None:
    """None when the server answered with the old group list, which does not contain resources."""
    aggregate = decode.one(body, _Aggregate)
    if aggregate.kind != "APIGroupDiscoveryList":
        return None
    groups = DiscoveredGroups({}, set())
    for group in aggregate.items:
        for version in group.versions:
            api_version = f"{group.metadata.name}/{version.version}".removeprefix("/")
            if version.freshness != "Current":
                groups.stale.add(api_version)
            groups.resources |= {
                Kind(api_version, resource.response_kind.kind): _resource(api_version, resource)
                for resource in version.resources
                if resource.response_kind is not None
            }
    return groups


def _resource(api_version: str, aggregated: _AggregatedResource) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=aggregated.resource,
        namespaced=aggregated.scope == "Namespaced",
        verbs=frozenset(aggregated.verbs),
        subresources=frozenset(sub.subresource for sub in aggregated.subresources),
        short_names=frozenset(aggregated.short_names),
    )


def parse_resource_list(api_version: str, body: bytes) -> dict[Kind, Resource]:
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
