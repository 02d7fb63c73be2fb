"""merge and replace: made where it is not there, else patched, if that would change anything.

What a patch would change is asked of the server by a dry run, and remembered for the version that was asked about: at
rest nothing is asked.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec

from steward.kube.client import Client
from steward.kube.errors import Invalid
from steward.kube.kinds import Manifest
from steward.kube.patches import Patch as AnyPatch
from steward.runtime.carry import Effect
from steward.runtime.plan import Create, Patch, Step
from steward.tenants.api.scalars import UNSET
from steward.tenants.controllers.tenant_look import Eyes, Seen
from steward.tenants.ignored import filled, ignored_places, without
from steward.tenants.jsonpath import Concrete
from steward.tenants.merging import (
    is_same,
    merge_patch,
    plain_merge_patch,
    replace_patch,
    with_what_is_there,
)
from steward.tenants.objects import Wanted
from steward.tenants.refusals import immutable_fields

REMEMBERED: Final = 20_000

_Memory = tuple[str, str, bytes]
Places = tuple[Concrete, ...]


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
        patch, answer = await _accepted(wanted, live, writing.client)
        if not is_same(live, answer):
            return await writing.carry(Patch(wanted.ref, patch))
        self._remember((live["metadata"]["uid"], live["metadata"]["resourceVersion"], digest))
        return Effect.UNCHANGED

    def _remember(self, memory: _Memory) -> None:
        self._same[memory] = None
        if len(self._same) > REMEMBERED:
            self._same.popitem(last=False)


async def _accepted(wanted: Wanted, live: Manifest, client: Client) -> tuple[AnyPatch, Manifest]:
    """A patch that the server would take, and what it would make of the object."""
    expressions = wanted.resource.ignore_fields
    places = () if expressions is UNSET else ignored_places(wanted.manifest, expressions)
    first = _first(wanted, live, places)
    try:
        return first, await _tried(wanted, first, client)
    except Invalid as error:
        second = _second(wanted, live, places, error)
        if second is None:
            raise
        try:
            return second, await _tried(wanted, second, client)
        except Invalid:
            raise error from None


async def _tried(wanted: Wanted, patch: AnyPatch, client: Client) -> Manifest:
    answer: Manifest = msgspec.json.decode(await client.patch(wanted.ref, patch, dry_run=True))
    return answer


def _first(wanted: Wanted, live: Manifest, places: Places) -> AnyPatch:
    if wanted.resource.patch_strategy == "merge":
        return merge_patch(without(wanted.manifest, places), live)
    return replace_patch(filled(wanted.manifest, live, places), live)


def _second(wanted: Wanted, live: Manifest, places: Places, error: Invalid) -> AnyPatch | None:
    if wanted.resource.patch_strategy == "merge":
        return plain_merge_patch(without(wanted.manifest, places), live)
    if not immutable_fields(error):
        return None
    return replace_patch(with_what_is_there(filled(wanted.manifest, live, places), live), live)
