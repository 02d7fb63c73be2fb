"""merge and replace: made where it is not there, else patched, if that would change anything.

What a patch would change is asked of the server by a dry run, and remembered for the version that was asked about: at
rest nothing is asked.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec

from steward.kube.client import Client
from steward.kube.kinds import Manifest
from steward.runtime.carry import Effect
from steward.runtime.plan import Create, Patch, Step
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant_look import Eyes, Seen
from steward.tenants.ignored import filled, ignored_places, without
from steward.tenants.merging import is_same, merge_patch, replace_patch
from steward.tenants.objects import Wanted

REMEMBERED: Final = 20_000

_Memory = tuple[str, str, bytes]


class Writing(NamedTuple):
    """How to reach the server with the right rights."""

    client: Client
    carry: Callable[[Step], Awaitable[Effect]]


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
        patch = _patch(wanted, live)
        answer = await writing.client.patch(wanted.ref, patch.patch, dry_run=True)
        if not is_same(live, msgspec.json.decode(answer)):
            return await writing.carry(patch)
        self._remember((live["metadata"]["uid"], live["metadata"]["resourceVersion"], digest))
        return Effect.UNCHANGED

    def _remember(self, memory: _Memory) -> None:
        self._same[memory] = None
        if len(self._same) > REMEMBERED:
            self._same.popitem(last=False)


def _patch(wanted: Wanted, live: Manifest) -> Patch:
    expressions = wanted.resource.ignore_fields
    places = () if expressions is UNSET else ignored_places(wanted.manifest, expressions)
    if wanted.resource.patch_strategy == "merge":
        return Patch(wanted.ref, merge_patch(without(wanted.manifest, places), live))
    return Patch(wanted.ref, replace_patch(filled(wanted.manifest, live, places), live))
