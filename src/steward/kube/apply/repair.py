"""Repairs three rejections (422) that server-side apply cannot resolve by itself.

A union whose member changes: a default that no manager owns (a Deployment's `rollingUpdate`) stays beside the new
member, and the API server rejects the two together. One patch removes the default and sets the new member.

A merge key that another client changed (a Service's port number): our item and the changed one have the same name, and
the server rejects the duplicate. The patch restores the key of the changed item.

A map of a custom resource whose last key we drop: the server sets it to null and rejects the null. The patch empties
the map first.

Such a patch is an update, not an apply, and would make us a second owner of fields that no later apply could remove. So
it is sent under a field manager of its own, and `remove_repair_manager` removes that manager's entry after the apply.
"""

from contextlib import suppress
from typing import Any

import msgspec

from steward.kube.apply.repair_patches import Operation, RejectionCause, repair_operations
from steward.kube.client.client import Client
from steward.kube.errors import Conflict, Invalid, NotFound
from steward.kube.managed_fields.ownership import managed_entries
from steward.kube.objects.kinds import Manifest, Ref, ref_of
from steward.kube.objects.options import ApplyOptions
from steward.kube.objects.patches import JsonPatch

# A patch holds the resourceVersion that it was made for, and controllers write the status at the same time.
_ATTEMPTS = 5


def repair_manager(manager: str) -> str:
    """The field manager of patches that repair what this one applies."""
    return f"{manager}-heal"


class ApplyRepairer:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def repair(self, manifest: Manifest, options: ApplyOptions, rejection: Invalid) -> bool:
        """Whether a patch was sent, so that another attempt to apply makes sense."""
        if not options.force or options.subresource:
            return False
        ref, causes = ref_of(manifest), _causes(rejection)
        for _ in range(_ATTEMPTS):
            live = await self._read(ref)
            operations = repair_operations(manifest, live, causes)
            if not operations:
                return False
            with suppress(Conflict, Invalid):
                await self._patch(ref, live["metadata"]["resourceVersion"], operations, options)
                return True
        return False

    async def remove_repair_manager(self, manifest: Manifest, options: ApplyOptions, body: bytes) -> bytes:
        """Returns the object without the entry of the repair manager. Only tidiness, so that it may fail."""
        healer = repair_manager(options.manager)
        if healer.encode() not in body:
            return body
        ref = ref_of(manifest)
        for _ in range(_ATTEMPTS):
            positions = [
                position for position, entry in enumerate(managed_entries(body)) if entry.manager == healer
            ]
            if not positions:
                return body
            operations: list[Operation] = [
                {"op": "remove", "path": f"/metadata/managedFields/{position}"}
                for position in reversed(positions)
            ]
            try:
                return await self._patch(ref, _resource_version(body), operations, options)
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
        patch = JsonPatch.at_version(version, operations)
        return await self._client.patch(ref, patch, manager=repair_manager(options.manager))


def _causes(rejection: Invalid) -> list[RejectionCause]:
    causes: list[dict[str, Any]] = rejection.details.get("causes") or []
    return [
        RejectionCause(cause.get("reason", ""), cause.get("field", ""), cause.get("message", ""))
        for cause in causes
    ]


def _resource_version(body: bytes) -> str:
    version: str = msgspec.json.decode(body)["metadata"]["resourceVersion"]
    return version
