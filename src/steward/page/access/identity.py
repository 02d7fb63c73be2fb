"""Who a reader is, and what they may list and watch: asked of the API server with the reader's own credentials."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.cache.rules import EVERY_NAMESPACE
from steward.kube.client.client import Access, Client
from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import Kind
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.page.inventory.inventory import REGISTRY
from steward.page.live.watch_rules import WATCHED, Namespaces
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS

SELF_SUBJECT_REVIEW: Final = {
    "apiVersion": "authentication.k8s.io/v1",
    "kind": "SelfSubjectReview",
    "metadata": {},
}
_OF_ONE_TOKEN: Final = ("authentication.kubernetes.io/credential-id",)
"""What differs between two tokens of the same user."""
_VERBS: Final = ("list", "watch")
_OWN_RESOURCES: Final = {each.kind: each.plural for each in (*MULTIGRES_KINDS, *TENANT_KINDS)}
_ROOTS: Final = (Kind("multigres.com/v1alpha1", "MultigresCluster"), REGISTRY)


NOTHING: Final = (
    "You may read neither clusters nor registries here: log in with the names of your namespaces, or ask for the right "
    "to list and watch multigresclusters and tenantregistries."
)


class Identity(NamedTuple):
    user: str
    uid: str
    groups: tuple[str, ...]
    extra: str


class ReadScope(NamedTuple):
    """By kind, the namespaces in which the reader may list and watch it. Hashable: equal scopes share watches."""

    allowed: tuple[tuple[Kind, Namespaces], ...]
    denied: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not any(namespaces for kind, namespaces in self.allowed if kind in _ROOTS)

    @property
    def namespaces(self) -> Namespaces:
        found = {name for kind, names in self.allowed if kind in _ROOTS for name in names}
        return tuple(sorted(found))


async def read_identity(client: Client) -> Identity:
    """Raises Unauthorized if the credentials are not valid, or no longer."""
    answer: dict[str, Any] = msgspec.json.decode(await client.create(SELF_SUBJECT_REVIEW))
    user = answer["status"]["userInfo"]
    kept = {name: value for name, value in (user.get("extra") or {}).items() if name not in _OF_ONE_TOKEN}
    extra = msgspec.json.encode(kept, order="sorted").decode()
    return Identity(
        user.get("username", ""), user.get("uid", ""), tuple(sorted(user.get("groups") or ())), extra
    )


async def read_scope(client: Client, requested: Namespaces) -> ReadScope:
    """All namespaces, if the reader may read clusters or registries there; else the requested ones."""
    everywhere = await asyncio.gather(*(_may_read(client, kind, EVERY_NAMESPACE) for kind in _ROOTS))
    namespaces = requested or ((EVERY_NAMESPACE,) if any(everywhere) else ())
    allowed = await asyncio.gather(*(_allowed_namespaces(client, kind, namespaces) for kind in WATCHED))
    scope = ReadScope(tuple(zip(WATCHED, allowed, strict=True)), tuple(_denials(allowed, namespaces)))
    return scope._replace(denied=(NOTHING, *scope.denied)) if scope.is_empty else scope


async def _allowed_namespaces(client: Client, kind: Kind, namespaces: Namespaces) -> Namespaces:
    answers = await asyncio.gather(*(_may_read(client, kind, name) for name in namespaces))
    return tuple(name for name, is_allowed in zip(namespaces, answers, strict=True) if is_allowed)


def _denials(allowed: Iterable[Namespaces], namespaces: Namespaces) -> Iterable[str]:
    for kind, found in zip(WATCHED, allowed, strict=True):
        if lacking := [name for name in namespaces if name not in found]:
            where = "all namespaces" if lacking == [EVERY_NAMESPACE] else f"namespace {', '.join(lacking)}"
            yield f"You may not list and watch {kind.kind} in {where}: it is not shown."


async def _may_read(client: Client, kind: Kind, namespace: str) -> bool:
    resource = await _resource_name(client, kind)
    where = "" if namespace == EVERY_NAMESPACE else namespace
    accesses = [Access(verb=verb, group=kind.group, resource=resource, namespace=where) for verb in _VERBS]
    answers = await asyncio.gather(*map(client.review_access, accesses))
    return all(answer.allowed for answer in answers)


async def _resource_name(client: Client, kind: Kind) -> str:
    """RBAC decides about resources that are not installed yet, too: their watch waits for them."""
    try:
        return (await client.discovery.resource(kind)).plural
    except NoSuchKind:
        return _OWN_RESOURCES.get(kind.kind, f"{kind.kind.lower()}s")
