"""Heals three refusals that server-side apply cannot get out of by itself.

A union whose branch changes: a default that nobody owns (a Deployment's `rollingUpdate`) stays beside the new branch,
and the server refuses both together. The leftover is taken away in one patch with setting the new branch.

A merge key that somebody changed (a Service's port number): our item and the changed one share a name, and the
server refuses the duplicate. The changed item is given its key back.

A map of a custom resource whose last key we drop: the server makes it null and refuses that. The map is emptied first.

Such a patch is an update, not an apply, and makes its author an owner whose fields no later apply could drop. So it
is made under a name of its own, and `tidy` takes that entry away once the apply has gone through.
"""

from contextlib import suppress
from typing import Any

import msgspec

from steward.kube.apply.repair_patches import Cause, Operation, clearing
from steward.kube.client.client import Client
from steward.kube.errors import Conflict, Invalid, NotFound
from steward.kube.managed_fields.ownership import managed_entries
from steward.kube.objects.kinds import Manifest, Ref, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.kube.objects.patches import JsonPatch

# A patch holds the version that it was made for, and controllers write status at the same time.
_ATTEMPTS = 5
_SUFFIX = "-heal"


class Healer:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def heal(self, manifest: Manifest, options: ApplyOptions, refusal: Invalid) -> bool:
        """Whether something was cleared away, so that the apply is worth another attempt."""
        if not options.force or options.subresource:
            return False
        ref, causes = ref_of(manifest), _causes(refusal)
        for _ in range(_ATTEMPTS):
            live = await self._read(ref)
            operations = clearing(manifest, live, causes)
            if not operations:
                return False
            with suppress(Conflict, Invalid):
                await self._patch(ref, live["metadata"]["resourceVersion"], operations, options)
                return True
        return False

    async def tidy(self, manifest: Manifest, options: ApplyOptions, body: bytes) -> bytes:
        """The object without the owner that healing made; it is only a matter of order, so it may fail."""
        healer = options.manager + _SUFFIX
        if healer.encode() not in body:
            return body
        ref = ref_of(manifest)
        for _ in range(_ATTEMPTS):
            places = [place for place, entry in enumerate(managed_entries(body)) if entry.manager == healer]
            if not places:
                return body
            removal: list[Operation] = [
                {"op": "remove", "path": f"/metadata/managedFields/{place}"} for place in reversed(places)
            ]
            try:
                return await self._patch(ref, _version(body), removal, options)
            except (Conflict, Invalid):
                body = bytes(await self._client.get(ref.kind, ref.key, msgspec.Raw))
        return body

    async def _read(self, ref: Ref) -> Manifest:
        try:
            return await self._client.get(ref.kind, ref.key)
        except NotFound:
            return {}

    async def _patch(
        self, ref: Ref, version: str, operations: list[Operation], options: ApplyOptions
    ) -> bytes:
        patch = JsonPatch.as_seen(version, operations)
        return await self._client.patch(ref, patch, manager=options.manager + _SUFFIX)


def _causes(refusal: Invalid) -> list[Cause]:
    causes: list[dict[str, Any]] = refusal.details.get("causes") or []
    return [
        Cause(cause.get("reason", ""), cause.get("field", ""), cause.get("message", "")) for cause in causes
    ]


def _version(body: bytes) -> str:
    version: str = msgspec.json.decode(body)["metadata"]["resourceVersion"]
    return version
