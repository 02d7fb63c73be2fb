"""Looks at the objects of a Tenant: in the caches where they are watched, on the server where they are not.

A cache holds only what carries a Tenant's label, so an object that it does not show may still be there and belong to
somebody else: what is not seen is made by a call that touches nothing that stands there, or looked for on the server.
"""

from typing import Any, NamedTuple

from steward.gotemplate import TemplateError, parse
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.conditions import READY, is_true
from steward.kube.objects.kinds import INGRESS, Kind, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta
from steward.kube.objects.readiness import READY_NOW, NotYet, Readiness, readiness
from steward.kube.objects.readiness_views import CustomObserved, Observed, observed_view
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.child_watches import Children


class Seen(NamedTuple):
    """A living object."""

    meta: ObjectMeta
    readiness: Readiness


class Eyes:
    def __init__(self, client: Client, children: Children) -> None:
        self._client = client
        self._children = children

    async def find(self, ref: Ref) -> Seen | None:
        known = self._children.get(*ref)
        if known is None:
            known = await self._read(ref)
        return None if known is None else Seen(known.metadata, _readiness(ref, known))

    def may_stand(self, ref: Ref) -> bool:
        """Whether an object of this name is ours already, as far as the caches know; True before they know anything."""
        return not self._children.knows(ref.kind) or self._children.get(*ref) is not None

    def hears_of(self, kind: Kind) -> bool:
        """Whether a change of such an object wakes its Tenant."""
        return self._children.knows(kind)

    def cached(self, ref: Ref) -> Seen | None:
        """Without asking the server: for what it told us a moment ago."""
        known = self._children.get(*ref)
        return None if known is None else Seen(known.metadata, _readiness(ref, known))

    async def whole(self, ref: Ref) -> Manifest | None:
        try:
            return await self._client.get(ref.kind, ref.key)
        except NotFound:
            return None

    async def _read(self, ref: Ref) -> HasMetadata | None:
        try:
            found: HasMetadata = await self._client.get(ref.kind, ref.key, observed_view(ref.kind))
        except NotFound:
            return None
        return found

    async def readiness_by(self, resource: TResource, ref: Ref, seen: Seen) -> Readiness:
        """By the resource's own rule where it has one."""
        if resource.ready_when is UNSET or not resource.has_own_rule:
            return seen.readiness
        if seen.meta.deletion_timestamp is not None:
            return seen.readiness
        live = await self.whole(ref)
        return NotYet("is gone") if live is None else by_own_rule(resource.ready_when, live)


def by_own_rule(template: str, live: dict[str, Any]) -> Readiness:
    """`readyWhen` over the living object. What fails to render, because a field is not there yet, is not ready yet."""
    try:
        rendered = parse(template, "readyWhen", functions="tenants", missingkey="defaulted").render(live)
    except TemplateError as error:
        return NotYet(f"readyWhen cannot be told: {error}")
    if rendered.strip() == "true":
        return READY_NOW
    return NotYet(f"readyWhen renders {rendered.strip()[:60]!r}, not 'true'")


def _readiness(ref: Ref, known: Any) -> Readiness:
    if ref.kind == INGRESS and isinstance(known, Observed) and known.metadata.deletion_timestamp is None:
        return ingress_readiness(known)
    if isinstance(known, Observed | CustomObserved):
        return readiness(ref.kind, known)
    if isinstance(known, Metadata) and known.metadata.deletion_timestamp is not None:
        return NotYet("is being deleted")
    return READY_NOW


def ingress_readiness(ingress: Observed) -> Readiness:
    """Stricter than for others who wait: a tenant is ready when it can be reached."""
    if ingress.status.load_balancer.ingress or is_true(ingress.status.conditions, READY):
        return READY_NOW
    return NotYet("has no load balancer address; set waitForReady: false if its controller reports none")
