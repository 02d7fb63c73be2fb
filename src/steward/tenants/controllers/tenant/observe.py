"""Reads the objects of a Tenant: from the caches where their kind is watched, from the API server otherwise.

A cache holds only objects with a Tenant's label, so an object that it does not hold may still exist and be foreign.
Such an object is created by a call that fails if it exists, or read from the API server.
"""

from typing import Any, Final, NamedTuple

from steward.gotemplate import TemplateError, parse
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.managed_fields.field_losses import ChangedKeys, Losses
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Kind, Manifest, Ref
from steward.kube.objects.meta import HasMetadata, ObjectMeta
from steward.kube.objects.readiness import READY_NOW, NotReady, Readiness, view_readiness
from steward.kube.objects.readiness_views import ReadinessView, readiness_view
from steward.tenants.api.resource import TResource
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.common.child_watches import ChildWatches
from steward.tenants.controllers.tenant.storage_classes import StorageClasses

_UNKNOWN_CLASS: Final = (
    "is not bound to a volume, and the operator may not read its StorageClass; set waitForReady: false if that binds "
    "with WaitForFirstConsumer"
)


class ObservedObject(NamedTuple):
    """An object that exists, with its readiness."""

    meta: ObjectMeta
    readiness: Readiness
    storage_class: str = ""
    """Of a PersistentVolumeClaim."""


class ObjectReader:
    def __init__(self, client: Client, watches: ChildWatches, classes: StorageClasses) -> None:
        self._client = client
        self._watches = watches
        self._classes = classes

    async def read(self, ref: Ref) -> ObservedObject | None:
        """From the cache, or from the API server if the cache does not hold it."""
        live = self._watches.get(*ref)
        if live is None:
            live = await self._read_view(ref)
        return None if live is None else _observe(ref, live)

    def read_cached(self, ref: Ref) -> ObservedObject | None:
        """Without a request: the cache holds the answer to the operator's own last write."""
        cached = self._watches.get(*ref)
        return None if cached is None else _observe(ref, cached)

    async def read_manifest(self, ref: Ref) -> Manifest | None:
        """The complete object from the API server."""
        try:
            return await self._client.get(ref.kind, ref.key)
        except NotFound:
            return None

    def lost_fields(self, ref: Ref) -> Losses:
        """The fields that others were seen to take from the operator."""
        return self._watches.lost_fields(*ref)

    def changed_keys(self, ref: Ref) -> ChangedKeys | None:
        """The object, if others were seen to change the merge key of one of its list items."""
        return self._watches.changed_keys(*ref)

    def may_exist(self, ref: Ref) -> bool:
        """Whether the cache holds a managed object of this name; True while the cache is not synced."""
        return not self._watches.is_synced(ref.kind) or self._watches.get(*ref) is not None

    def is_watched(self, kind: Kind) -> bool:
        """Whether a change of such an object wakes its Tenant."""
        return self._watches.is_synced(kind)

    async def _read_view(self, ref: Ref) -> HasMetadata | None:
        try:
            live: HasMetadata = await self._client.get(ref.kind, ref.key, readiness_view(ref.kind))
        except NotFound:
            return None
        return live

    async def resource_readiness(self, resource: TResource, ref: Ref, live: ObservedObject) -> Readiness:
        """By the resource's `readyWhen` where it has one."""
        if resource.ready_when is UNSET or not resource.has_readiness_rule:
            return (
                await self._claim_readiness(live)
                if _may_await_consumer(resource, ref, live)
                else live.readiness
            )
        if live.meta.deletion_timestamp is not None:
            return live.readiness
        manifest = await self.read_manifest(ref)
        return (
            NotReady("is deleted") if manifest is None else evaluate_ready_when(resource.ready_when, manifest)
        )

    async def _claim_readiness(self, claim: ObservedObject) -> Readiness:
        """A claim that its first pod binds counts as ready before: otherwise a dependent with that pod would wait for
        ever. The pod is not ready before the claim is bound, so the Tenant is not either."""
        binds_on_first_use = await self._classes.binds_on_first_use(claim.storage_class)
        if binds_on_first_use is None:
            return NotReady(_UNKNOWN_CLASS)
        return READY_NOW if binds_on_first_use else claim.readiness


def _may_await_consumer(resource: TResource, ref: Ref, live: ObservedObject) -> bool:
    is_claim = ref.kind == PERSISTENT_VOLUME_CLAIM and bool(live.storage_class)
    is_unbound = isinstance(live.readiness, NotReady) and live.meta.deletion_timestamp is None
    return is_claim and is_unbound and resource.wait_for_ready


def evaluate_ready_when(template: str, live: dict[str, Any]) -> Readiness:
    """Renders `readyWhen` with the live object. An error, such as a field that is not set yet, means not ready yet.

    The messages have nothing of the rendered text and of errors: both may quote the object, and it may be a Secret.
    """
    try:
        rendered = parse(template, "readyWhen", functions="tenants", missingkey="defaulted").render(live)
    except TemplateError as error:
        return NotReady(f"readyWhen cannot be rendered{_position(error)}: a field may not be set yet")
    verdict = rendered.strip()
    if verdict == "true":
        return READY_NOW
    is_false = verdict in ("false", "")
    return NotReady("readyWhen is false" if is_false else "readyWhen renders neither true nor false")


def _position(error: TemplateError) -> str:
    column = "" if error.column is None else f", column {error.column}"
    return f" at line {error.line}{column}" if error.line else ""


def _observe(ref: Ref, live: HasMetadata) -> ObservedObject:
    storage_class = live.spec.storage_class_name if isinstance(live, ReadinessView) else ""
    return ObservedObject(live.metadata, view_readiness(ref.kind, live), storage_class)
