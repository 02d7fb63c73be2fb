"""merge and replace have a fallback patch for rejections, and cache the result of dry runs."""

from typing import Any

import msgspec
import pytest

from steward.kube.errors import Invalid
from steward.kube.objects.kinds import Manifest, Ref, ref_of
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import JsonPatch, MergePatch, StrategicPatch
from steward.kube.objects.patches import Patch as AnyPatch
from steward.kube.objects.readiness import READY_NOW
from steward.runtime.plan.executor import StepEffect
from steward.runtime.plan.steps import Create, Patch, Step
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.tenant.conflict_policy import FieldOwners, OwnershipConflict
from steward.tenants.controllers.tenant.merge_replace import ObjectPatcher, PatchAccess
from steward.tenants.controllers.tenant.observe import ObservedObject
from steward.tenants.objects.desired import DesiredObject
from tests.tenants.support.fleet import resource, service

Rejection = dict[str, tuple[str, ...]]
CLAIM: Manifest = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {"resources": {"requests": {"storage": "2Gi"}}},
}
OWNERS: FieldOwners = (("them", ".data"),)
TWO_PORTS: Rejection = {"spec.ports[1].name": ("Duplicate value: http",)}
IMMUTABLE: Rejection = {"spec": ("Forbidden: spec is immutable after creation",)}


class Server:
    """Holds one object, rejects the first patches, and accepts the others."""

    def __init__(self, live: Manifest | None, *rejections: Rejection) -> None:
        self.live = live
        self.rejections = list(rejections)
        self.tried: list[AnyPatch] = []
        self.written: list[Step] = []
        self.is_contested = False

    async def read_manifest(self, ref: Ref) -> Manifest | None:
        return self.live

    async def patch(self, ref: Ref, patch: AnyPatch, *, dry_run: bool) -> bytes:
        assert dry_run
        self.tried.append(patch)
        if self.rejections:
            error = Invalid(422, "Invalid", "rejected", {})
            error.causes = self.rejections.pop(0)
            raise error
        return msgspec.json.encode({**(self.live or {}), "changed": not isinstance(patch, StrategicPatch)})

    def require_restorable(self, live: Manifest, answer: Manifest) -> FieldOwners:
        if self.is_contested:
            raise OwnershipConflict("another manager keeps setting it")
        return OWNERS

    def note_restored(self, owners: FieldOwners) -> None:
        assert self.written
        assert owners == OWNERS

    async def write(self, step: Step) -> StepEffect:
        self.written.append(step)
        return StepEffect.CHANGED


def live_object(manifest: Manifest, **spec: Any) -> Manifest:
    metadata = {**manifest["metadata"], "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], **spec}}


async def patched(
    server: Server, manifest: Manifest, strategy: str, patcher: ObjectPatcher | None = None
) -> StepEffect:
    found = msgspec.convert(resource("one", manifest, patchStrategy=strategy), TResource)
    live = (
        None if server.live is None else ObservedObject(ObjectMeta(uid="u", resource_version="7"), READY_NOW)
    )
    access = PatchAccess(server, server.write, server.require_restorable, server.note_restored)  # type: ignore[arg-type]
    patcher = patcher or ObjectPatcher(server)  # type: ignore[arg-type]
    return await patcher.patch(DesiredObject(found, manifest, ref_of(manifest)), live, access)


async def test_a_list_that_cannot_be_merged_is_replaced() -> None:
    server = Server(live_object(service("web", 81)), TWO_PORTS)
    assert await patched(server, service("web", 80), "merge") is StepEffect.CHANGED
    assert [type(patch) for patch in server.tried] == [StrategicPatch, MergePatch]
    [step] = server.written
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    assert [port["port"] for port in step.patch.changes["spec"]["ports"]] == [80]


async def test_a_replacement_keeps_immutable_fields_that_the_server_set() -> None:
    server = Server(live_object(CLAIM, volumeName="pv-1"), IMMUTABLE)
    assert await patched(server, CLAIM, "replace") is StepEffect.CHANGED
    first, second = (_value(patch, "/spec") for patch in server.tried)
    assert first == CLAIM["spec"]
    assert second == {**CLAIM["spec"], "volumeName": "pv-1"}
    assert [step.patch for step in server.written if isinstance(step, Patch)] == server.tried[1:]


async def test_a_rejection_without_fallback_is_raised_at_once() -> None:
    server = Server(live_object(CLAIM), {"spec.resources": ("Invalid value",)})
    with pytest.raises(Invalid) as raised:
        await patched(server, CLAIM, "replace")
    assert (list(raised.value.causes), len(server.tried)) == (["spec.resources"], 1)


@pytest.mark.parametrize(("strategy", "rejection"), [("merge", TWO_PORTS), ("replace", IMMUTABLE)])
async def test_if_both_patches_are_rejected_the_first_rejection_is_raised(
    strategy: str, rejection: Rejection
) -> None:
    server = Server(live_object(service("web", 81)), rejection, {"spec.type": ("Invalid value",)})
    with pytest.raises(Invalid) as raised:
        await patched(server, service("web", 80), strategy)
    assert raised.value.causes == rejection
    assert (len(server.tried), server.written) == (2, [])


async def test_a_patch_that_changes_nothing_is_tried_once() -> None:
    live = {**live_object(service("web", 80)), "changed": False}
    server = Server(live)
    patcher = ObjectPatcher(server)  # type: ignore[arg-type]
    for _ in range(2):
        assert await patched(server, service("web", 80), "merge", patcher) is StepEffect.UNCHANGED
    assert (len(server.tried), server.written) == (1, [])


async def test_a_contested_field_is_not_changed() -> None:
    server = Server(live_object(CLAIM))
    server.is_contested = True
    with pytest.raises(OwnershipConflict):
        await patched(server, CLAIM, "replace")
    assert server.written == []


@pytest.mark.parametrize("strategy", ["merge", "replace"])
async def test_a_missing_object_is_created(strategy: str) -> None:
    server = Server(None)
    await patched(server, service("web"), strategy)
    assert server.written == [Create(service("web"))]


def _value(patch: AnyPatch, path: str) -> Any:
    assert isinstance(patch, JsonPatch)
    return next(step["value"] for step in patch.operations if step["path"] == path)
