"""Server-side apply that sends no request when the apply would change nothing.

The applier first reads which fields of the live object our field manager owns: from the cache or, for objects that no
cache holds, from the API server. When we own exactly the fields of the manifest, with its values, nothing is sent
(`comparison`). Where only the server knows, one dry run is sent and its answer is remembered (`server_knowledge`). An
apply that the server rejects because of fields that are not in the manifest is repaired (`repair`) and sent again.

docs/design/server-side-apply.md walks through an example.
"""

from enum import Enum
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steward.kube.apply.comparison import Comparison, ComparisonResult
from steward.kube.apply.normalize import normalize
from steward.kube.apply.repair import ApplyRepairer
from steward.kube.apply.server_knowledge import FieldSetShape, ServerKnowledge
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.errors import Invalid, NotFound
from steward.kube.managed_fields.ownership import (
    ManagedEntry,
    ManagedMeta,
    OwnedFields,
    Ownership,
    decode_owned_part,
    managed_meta,
    own_entries,
    owned_fields,
    owned_fields_with,
    owned_values,
)
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.meta import HasMetadata, ObjectMeta
from steward.kube.objects.options import ApplyOptions

# One rejection may hide another.
_REPAIRS = 3

_object_decoder = msgspec.json.Decoder(dict[str, Any])


class ApplyOutcome(Enum):
    UNCHANGED = "unchanged"
    CREATED = "created"
    CHANGED = "changed"


class ApplyResult(Struct, frozen=True):
    outcome: ApplyOutcome
    body: bytes = b""
    """The object in the API server's answer; empty when nothing was sent."""
    owned: OwnedFields | None = None
    """The fields that we own after it."""


class LiveOwnership(Struct, frozen=True):
    """The object before the apply: its resourceVersion ("" when it does not exist) and the fields that we own."""

    version: str = ""
    owned: OwnedFields | None = None


class AnsweredObject(NamedTuple):
    """The object in the API server's answer, and its managedFields, which are read more than once."""

    body: bytes
    managed: ManagedMeta


class Applier:
    def __init__(self, client: Client, knowledge: ServerKnowledge | None = None) -> None:
        self._client = client
        self._knowledge = knowledge or ServerKnowledge()
        self._repairer = ApplyRepairer(client)

    def with_client(self, client: Client) -> "Applier":
        """An applier with another client that shares the knowledge about the server."""
        return Applier(client, self._knowledge)

    async def apply(
        self, manifest: Manifest, options: ApplyOptions, store: Store[Any] | None = None
    ) -> ApplyResult:
        manifest = normalize(manifest)
        comparison = Comparison(manifest, self._knowledge)
        if options.only_if_absent:
            body = await self._client.apply(manifest, options)
            answer = AnsweredObject(body, managed_meta(body))
            owned = self._remember_answer(answer, options, comparison, store)
            return ApplyResult(ApplyOutcome.CREATED, body, owned)
        live = await self._live_ownership(comparison, options, store)
        if await self._is_noop(manifest, options, comparison, live):
            return ApplyResult(ApplyOutcome.UNCHANGED, owned=live.owned)
        body = await self._send(manifest, options)
        answer = AnsweredObject(body, managed_meta(body))
        owned = self._remember_answer(answer, options, comparison, store)
        return ApplyResult(_outcome(answer.managed, live, options.manager), body, owned)

    async def _live_ownership(
        self, comparison: Comparison, options: ApplyOptions, store: Store[Any] | None
    ) -> LiveOwnership:
        ref = comparison.ref
        if store is None or not is_authoritative(store, ref, comparison.manifest, options):
            return await self._read_live(ref, options)
        cached: HasMetadata | None = store.get(ref.key)
        if cached is None:
            return LiveOwnership()
        return LiveOwnership(
            cached.metadata.resource_version, store.owned_fields(ref.key, options.subresource)
        )

    async def _read_live(self, ref: Ref, options: ApplyOptions) -> LiveOwnership:
        try:
            body = bytes(await self._client.get(ref.kind, ref.key, msgspec.Raw))
        except NotFound:
            return LiveOwnership()
        managed = managed_meta(body)
        entry = own_entries(ref.kind, managed.managed_fields, options.manager).get(options.subresource)
        owned = None if entry is None else owned_fields(entry, _object_decoder.decode(body))
        return LiveOwnership(managed.resource_version, owned)

    async def _is_noop(
        self, manifest: Manifest, options: ApplyOptions, comparison: Comparison, live: LiveOwnership
    ) -> bool:
        result = comparison.compare(live.owned)
        if result is not ComparisonResult.UNSURE:
            return result is ComparisonResult.SAME
        try:
            body = await self._client.apply(manifest, replace(options, dry_run=True))
        except Invalid:
            return False
        answer = AnsweredObject(body, managed_meta(body))
        return self._remember(answer, options, comparison).get(options.subresource) == live.owned

    async def _send(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        body = await self._send_with_repair(manifest, options)
        return (
            body if options.dry_run else await self._repairer.remove_repair_manager(manifest, options, body)
        )

    async def _send_with_repair(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        for _ in range(_REPAIRS):
            try:
                return await self._client.apply(manifest, options)
            except Invalid as rejection:
                if options.dry_run or not await self._repairer.repair(manifest, options, rejection):
                    raise
        return await self._client.apply(manifest, options)

    def _remember_answer(
        self, answer: AnsweredObject, options: ApplyOptions, comparison: Comparison, store: Store[Any] | None
    ) -> OwnedFields | None:
        """The fields that we own after the write."""
        if options.dry_run:
            return None
        if store is None or store.kind != comparison.ref.kind:
            owned = self._remember(answer, options, comparison)
        elif store.rule.owned_by != options.manager:
            owned = self._remember(answer, options, comparison)
            store.observe_write(answer.body)
        elif cached := self._cached(answer, options, comparison, store):
            return cached
        else:
            owned = self._remember(answer, options, comparison)
            store.observe_write(answer.body, Ownership(owned.get(""), owned.get("status")))
        return owned.get(options.subresource)

    def _cached(
        self, answer: AnsweredObject, options: ApplyOptions, comparison: Comparison, store: Store[Any]
    ) -> OwnedFields | None:
        """Our fields, if the watch event of this write came before the answer, which then teaches nothing new."""
        cached = store.ownership_at(comparison.ref.key, answer.managed.resource_version)
        owned = None if cached is None else cached.for_subresource(options.subresource)
        if owned is None or self._knowledge.shape_of(owned.fields) is not FieldSetShape.SIMPLE:
            return None
        comparison.remember_noop(owned)
        return owned

    def _remember(
        self, answer: AnsweredObject, options: ApplyOptions, comparison: Comparison
    ) -> dict[str, OwnedFields]:
        """The fields that we own after the write, by subresource."""
        own = own_entries(comparison.ref.kind, answer.managed.managed_fields, options.manager)
        if not own:
            return {}
        live_object = decode_owned_part(answer.body, own)
        values = {subresource: owned_values(entry, live_object) for subresource, entry in own.items()}
        owned = {
            subresource: owned_fields_with(entry, values[subresource]) for subresource, entry in own.items()
        }
        applied = options.subresource
        if applied in own:
            comparison.remember_answer(own[applied], values[applied], owned[applied])
        return owned


def is_authoritative(store: Store[Any], ref: Ref, manifest: Manifest, options: ApplyOptions) -> bool:
    """Whether the store knows our owned fields of this object, and its absence there means that it does not exist."""
    rule = store.rule
    if rule.kind != ref.kind or rule.owned_by != options.manager or not store.synced:
        return False
    if store.get(ref.key) is not None:
        return True
    labels = manifest["metadata"].get("labels") or {}
    meta = ObjectMeta(name=ref.key.name, namespace=ref.key.namespace, labels=labels)
    if rule.field_selector or (rule.accepts is not None and not rule.accepts(meta)):
        return False
    return any(scope.selects(meta) for scope in store.scopes)


def _outcome(answered: ManagedMeta, live: LiveOwnership, manager: str) -> ApplyOutcome:
    if live.version:
        return ApplyOutcome.UNCHANGED if answered.resource_version == live.version else ApplyOutcome.CHANGED
    return (
        ApplyOutcome.CREATED
        if _is_only_managed_by(answered.managed_fields, manager)
        else ApplyOutcome.CHANGED
    )


def _is_only_managed_by(entries: list[ManagedEntry], manager: str) -> bool:
    # The answer does not say whether the object is new. It is, when we knew of none and no other manager has
    # written to it.
    return all(entry.manager == manager and entry.operation == "Apply" for entry in entries)
