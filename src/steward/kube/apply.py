"""Server-side apply that writes nothing when there is nothing to write.

The live object is looked at first, in the cache or, for objects that no cache holds, on the server. When it holds
what we would apply and we own exactly that, no write is sent. What only the server can tell is asked by a dry run,
once. A manifest that the server refuses because of leftovers that are not in it is healed (see `heal`) and sent again.
"""

from enum import Enum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steward.kube.client import Client
from steward.kube.compare import Comparison, Verdict
from steward.kube.errors import Invalid, NotFound
from steward.kube.folded import with_folded_data
from steward.kube.heal import Healer
from steward.kube.kinds import Kind, Manifest, Ref, ref_of
from steward.kube.meta import HasMetadata, Metadata, ObjectMeta
from steward.kube.options import ApplyOptions
from steward.kube.owned import (
    Claim,
    ManagedEntry,
    OwnedFields,
    Ownership,
    claims,
    managed_entries,
    owned_fields,
    owned_values,
    values_of,
)
from steward.kube.settled import Settled
from steward.kube.store import Store

# One refusal may hide behind another.
_HEALINGS = 3

_whole = msgspec.json.Decoder(dict[str, Any])
_metadata = msgspec.json.Decoder(Metadata)


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


class Applier:
    def __init__(self, client: Client, settled: Settled | None = None) -> None:
        self._client = client
        self._settled = settled or Settled()
        self._healer = Healer(client)

    async def apply(
        self, manifest: Manifest, options: ApplyOptions, store: Store[Any] | None = None
    ) -> Applied:
        manifest = with_folded_data(manifest)
        known = await self._known(manifest, options, store)
        comparison = Comparison(manifest, self._settled)
        if await self._is_idle(manifest, options, comparison, known):
            return Applied(Outcome.UNCHANGED)
        body = await self._send(manifest, options)
        if not options.dry_run:
            self._take_in(body, options, comparison, store)
        return Applied(_outcome(body, known, options.manager), body)

    async def _known(self, manifest: Manifest, options: ApplyOptions, store: Store[Any] | None) -> Known:
        ref = ref_of(manifest)
        if store is None or not _speaks_for(store, manifest, options):
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
        claim = _claim(ref.kind, body, options)
        owned = None if claim is None else owned_fields(claim, _whole.decode(body))
        return Known(_metadata.decode(body).metadata.resource_version, owned)

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
        return self._learn(body, options, comparison).get(options.subresource) == known.owned

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
        self, body: bytes, options: ApplyOptions, comparison: Comparison, store: Store[Any] | None
    ) -> None:
        owned = self._learn(body, options, comparison)
        if store is None or store.kind != comparison.ref.kind:
            return
        is_told = store.rule.owned_by == options.manager
        store.observe(body, Ownership(owned.get(""), owned.get("status")) if is_told else None)

    def _learn(self, body: bytes, options: ApplyOptions, comparison: Comparison) -> dict[str, OwnedFields]:
        """What we own by the answer, for each subresource."""
        ours = claims(comparison.ref.kind, managed_entries(body), options.manager)
        if not ours:
            return {}
        answer = _whole.decode(body)
        values = {subresource: values_of(claim, answer) for subresource, claim in ours.items()}
        owned = {subresource: owned_values(claim, values[subresource]) for subresource, claim in ours.items()}
        applied = options.subresource
        if applied in ours:
            comparison.learn(ours[applied], values[applied], owned[applied])
        return owned


def _speaks_for(store: Store[Any], manifest: Manifest, options: ApplyOptions) -> bool:
    """Whether what the store says of the object, its absence too, can be believed."""
    rule, ref = store.rule, ref_of(manifest)
    if rule.kind != ref.kind or rule.owned_by != options.manager or not store.synced:
        return False
    if store.get(ref.key) is not None:
        return True
    labels = manifest["metadata"].get("labels") or {}
    meta = ObjectMeta(name=ref.key.name, namespace=ref.key.namespace, labels=labels)
    return not rule.field_selector and any(source.selects(meta) for source in store.sources)


def _claim(kind: Kind, body: bytes, options: ApplyOptions) -> Claim | None:
    return claims(kind, managed_entries(body), options.manager).get(options.subresource)


def _outcome(body: bytes, known: Known, manager: str) -> Outcome:
    if known.version:
        same = _metadata.decode(body).metadata.resource_version == known.version
        return Outcome.UNCHANGED if same else Outcome.CHANGED
    return Outcome.CREATED if _is_only_ours(managed_entries(body), manager) else Outcome.CHANGED


def _is_only_ours(entries: list[ManagedEntry], manager: str) -> bool:
    # The answer does not say whether the object is new; one that nobody else ever touched, and that we did not
    # know of, is.
    return all(entry.manager == manager and entry.operation == "Apply" for entry in entries)
