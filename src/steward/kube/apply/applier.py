"""Server-side apply that writes nothing when there is nothing to write.

The live object is looked at first, in the cache or, for objects that no cache holds, on the server. When it holds
what we would apply and we own exactly that, no write is sent. What only the server can tell is asked by a dry run,
once. A manifest that the server refuses because of leftovers that are not in it is healed (see `heal`) and sent again.
"""

from enum import Enum
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steward.kube.apply.comparison import Comparison, Verdict
from steward.kube.apply.empty import without_empty_maps
from steward.kube.apply.folded import with_folded_data
from steward.kube.apply.repair import Healer
from steward.kube.apply.server_knowledge import Settled, Shape
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.errors import Invalid, NotFound
from steward.kube.managed_fields.ownership import (
    ManagedEntry,
    ManagedMeta,
    OwnedFields,
    Ownership,
    claims,
    managed_meta,
    owned_fields,
    owned_values,
    values_of,
)
from steward.kube.objects.kinds import Manifest, Ref
from steward.kube.objects.meta import HasMetadata, ObjectMeta
from steward.kube.objects.options import ApplyOptions

# One refusal may hide behind another.
_HEALINGS = 3

_whole = msgspec.json.Decoder(dict[str, Any])


class Outcome(Enum):
    UNCHANGED = "unchanged"
    CREATED = "created"
    CHANGED = "changed"


class Applied(Struct, frozen=True):
    outcome: Outcome
    body: bytes = b""
    """The object as the server answered; empty when nothing was sent."""


class Known(Struct, frozen=True):
    """The object before the apply: its version, "" when there is none, and what we own of it."""

    version: str = ""
    owned: OwnedFields | None = None


class Answer(NamedTuple):
    """An object as the server answered, and the part of it that is read more than once."""

    body: bytes
    managed: ManagedMeta


class Applier:
    def __init__(self, client: Client, settled: Settled | None = None) -> None:
        self._client = client
        self._settled = settled or Settled()
        self._healer = Healer(client)

    def through(self, client: Client) -> "Applier":
        """Applies through another client, and shares what was learnt about the server."""
        return Applier(client, self._settled)

    async def apply(
        self, manifest: Manifest, options: ApplyOptions, store: Store[Any] | None = None
    ) -> Applied:
        manifest = without_empty_maps(with_folded_data(manifest))
        comparison = Comparison(manifest, self._settled)
        if options.only_if_absent:
            body = await self._client.apply(manifest, options)
            self._take_in(Answer(body, managed_meta(body)), options, comparison, store)
            return Applied(Outcome.CREATED, body)
        known = await self._known(comparison, options, store)
        if await self._is_idle(manifest, options, comparison, known):
            return Applied(Outcome.UNCHANGED)
        body = await self._send(manifest, options)
        answer = Answer(body, managed_meta(body))
        self._take_in(answer, options, comparison, store)
        return Applied(_outcome(answer.managed, known, options.manager), body)

    async def _known(self, comparison: Comparison, options: ApplyOptions, store: Store[Any] | None) -> Known:
        ref = comparison.ref
        if store is None or not speaks_for(store, ref, comparison.manifest, options):
            return await self._read(ref, options)
        cached: HasMetadata | None = store.get(ref.key)
        if cached is None:
            return Known()
        return Known(cached.metadata.resource_version, store.owned(ref.key, options.subresource))

    async def _read(self, ref: Ref, options: ApplyOptions) -> Known:
        try:
            body = bytes(await self._client.get(ref.kind, ref.key, msgspec.Raw))
        except NotFound:
            return Known()
        managed = managed_meta(body)
        claim = claims(ref.kind, managed.managed_fields, options.manager).get(options.subresource)
        owned = None if claim is None else owned_fields(claim, _whole.decode(body))
        return Known(managed.resource_version, owned)

    async def _is_idle(
        self, manifest: Manifest, options: ApplyOptions, comparison: Comparison, known: Known
    ) -> bool:
        verdict = comparison.verdict(known.owned)
        if verdict is not Verdict.UNSURE:
            return verdict is Verdict.SAME
        try:
            body = await self._client.apply(manifest, replace(options, dry_run=True))
        except Invalid:
            return False
        answer = Answer(body, managed_meta(body))
        return self._learn(answer, options, comparison).get(options.subresource) == known.owned

    async def _send(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        body = await self._send_healing(manifest, options)
        return body if options.dry_run else await self._healer.tidy(manifest, options, body)

    async def _send_healing(self, manifest: Manifest, options: ApplyOptions) -> bytes:
        for _ in range(_HEALINGS):
            try:
                return await self._client.apply(manifest, options)
            except Invalid as refusal:
                if options.dry_run or not await self._healer.heal(manifest, options, refusal):
                    raise
        return await self._client.apply(manifest, options)

    def _take_in(
        self, answer: Answer, options: ApplyOptions, comparison: Comparison, store: Store[Any] | None
    ) -> None:
        if options.dry_run:
            return
        if store is None or store.kind != comparison.ref.kind:
            self._learn(answer, options, comparison)
        elif store.rule.owned_by != options.manager:
            self._learn(answer, options, comparison)
            store.observe(answer.body)
        elif not self._has_seen(answer, options, comparison, store):
            owned = self._learn(answer, options, comparison)
            store.observe(answer.body, Ownership(owned.get(""), owned.get("status")))

    def _has_seen(
        self, answer: Answer, options: ApplyOptions, comparison: Comparison, store: Store[Any]
    ) -> bool:
        """The watch was faster: what we own by this answer is known, and mostly all that it could teach."""
        seen = store.ownership_at(comparison.ref.key, answer.managed.resource_version)
        owned = None if seen is None else seen.of(options.subresource)
        if owned is None or self._settled.shape(owned.fields) is not Shape.PLAIN:
            return False
        comparison.learn_same(owned)
        return True

    def _learn(self, answer: Answer, options: ApplyOptions, comparison: Comparison) -> dict[str, OwnedFields]:
        """What we own by the answer, for each subresource."""
        ours = claims(comparison.ref.kind, answer.managed.managed_fields, options.manager)
        if not ours:
            return {}
        whole = _whole.decode(answer.body)
        values = {subresource: values_of(claim, whole) for subresource, claim in ours.items()}
        owned = {subresource: owned_values(claim, values[subresource]) for subresource, claim in ours.items()}
        applied = options.subresource
        if applied in ours:
            comparison.learn(ours[applied], values[applied], owned[applied])
        return owned


def speaks_for(store: Store[Any], ref: Ref, manifest: Manifest, options: ApplyOptions) -> bool:
    """Whether what the store says of the object, its absence too, can be believed."""
    rule = store.rule
    if rule.kind != ref.kind or rule.owned_by != options.manager or not store.synced:
        return False
    if store.get(ref.key) is not None:
        return True
    labels = manifest["metadata"].get("labels") or {}
    meta = ObjectMeta(name=ref.key.name, namespace=ref.key.namespace, labels=labels)
    return not rule.field_selector and any(source.selects(meta) for source in store.sources)


def _outcome(answered: ManagedMeta, known: Known, manager: str) -> Outcome:
    if known.version:
        return Outcome.UNCHANGED if answered.resource_version == known.version else Outcome.CHANGED
    return Outcome.CREATED if _is_only_ours(answered.managed_fields, manager) else Outcome.CHANGED


def _is_only_ours(entries: list[ManagedEntry], manager: str) -> bool:
    # The answer does not say whether the object is new; one that nobody else ever touched, and that we did not
    # know of, is.
    return all(entry.manager == manager and entry.operation == "Apply" for entry in entries)
