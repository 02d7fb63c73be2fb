"""merge and replace: made where it is not there, else patched, if that would change anything.

What a patch would change is asked of the server by a dry run, and remembered for the version that was asked about: at
rest nothing is asked.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec

from steward.kube.client.client import Client
from steward.kube.errors import Invalid
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.patches import Patch as AnyPatch
from steward.runtime.plan.executor import Effect
from steward.runtime.plan.steps import Create, Patch, Step
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant.conflict_policy import Held
from steward.tenants.controllers.tenant.observe import Eyes, Seen
from steward.tenants.objects.api_errors import immutable_fields
from steward.tenants.objects.desired import Wanted
from steward.tenants.objects.ignore_fields import ignored_places, without
from steward.tenants.objects.living import with_living
from steward.tenants.objects.patches import (
    is_same,
    merge_patch,
    plain_merge_patch,
    replace_patch,
    with_what_is_there,
)

REMEMBERED: Final = 20_000

_Memory = tuple[str, str, bytes]


class Writing(NamedTuple):
    """How to reach the server with the right rights."""

    client: Client
    carry: Callable[[Step], Awaitable[Effect]]
    contend: Callable[[Manifest, Manifest], Held]
    """Given what is there and what would be: in whose hands that is. It raises where somebody means what is there."""
    put_back: Callable[[Held], None]
    """Called once it is written."""


class Patching:
    def __init__(self, eyes: Eyes) -> None:
        self._eyes = eyes
        self._same: OrderedDict[_Memory, None] = OrderedDict()

    async def patched(self, wanted: Wanted, seen: Seen | None, writing: Writing) -> Effect:
        if seen is None:
            return await writing.carry(Create(wanted.manifest))
        digest = msgspec.json.encode(wanted.manifest, order="deterministic")
        if (seen.meta.uid, seen.meta.resource_version, digest) in self._same:
            return Effect.UNCHANGED
        live = await self._eyes.whole(wanted.ref)
        if live is None:
            return await writing.carry(Create(wanted.manifest))
        patch, answer = await _accepted(wanted, live, writing.client)
        if not is_same(live, answer):
            held = writing.contend(live, answer)
            effect = await writing.carry(Patch(wanted.ref, patch))
            writing.put_back(held)
            return effect
        self._remember((live["metadata"]["uid"], live["metadata"]["resourceVersion"], digest))
        return Effect.UNCHANGED

    def _remember(self, memory: _Memory) -> None:
        self._same[memory] = None
        if len(self._same) > REMEMBERED:
            self._same.popitem(last=False)


async def _accepted(wanted: Wanted, live: Manifest, client: Client) -> tuple[AnyPatch, Manifest]:
    """A patch that the server would take, and what it would make of the object."""
    manifest = _unignored(wanted, live)
    first = _first(wanted, manifest, live)
    try:
        return first, await _tried(wanted, first, client)
    except Invalid as error:
        second = _second(wanted, manifest, live, error)
        if second is None:
            raise
        try:
            return second, await _tried(wanted, second, client)
        except Invalid:
            raise error from None


async def _tried(wanted: Wanted, patch: AnyPatch, client: Client) -> Manifest:
    answer: Manifest = msgspec.json.decode(await client.patch(wanted.ref, patch, dry_run=True))
    return answer


def _unignored(wanted: Wanted, live: Manifest) -> Manifest:
    """A merge does not mention what is ignored, a replacement has it as it lives."""
    expressions = wanted.resource.ignore_fields
    if expressions is UNSET or not expressions:
        return wanted.manifest
    if wanted.resource.patch_strategy == "merge":
        return without(wanted.manifest, ignored_places(wanted.manifest, expressions))
    return with_living(wanted.manifest, live, expressions)


def _first(wanted: Wanted, manifest: Manifest, live: Manifest) -> AnyPatch:
    is_merged = wanted.resource.patch_strategy == "merge"
    return merge_patch(manifest, live) if is_merged else replace_patch(manifest, live)


def _second(wanted: Wanted, manifest: Manifest, live: Manifest, error: Invalid) -> AnyPatch | None:
    if wanted.resource.patch_strategy == "merge":
        return plain_merge_patch(manifest, live)
    if not immutable_fields(error):
        return None
    return replace_patch(with_what_is_there(manifest, live), live)
