"""merge and replace have a second patch for what the server refuses, and ask it nothing twice."""

from typing import Any

import msgspec
import pytest

from steward.kube.errors import Invalid
from steward.kube.objects.kinds import Manifest, Ref, ref_of
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import JsonPatch, MergePatch, StrategicPatch
from steward.kube.objects.patches import Patch as AnyPatch
from steward.kube.objects.readiness import READY_NOW
from steward.runtime.plan.executor import Effect
from steward.runtime.plan.steps import Create, Patch, Step
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.tenant.conflict_policy import ConflictFound, Held
from steward.tenants.controllers.tenant.merge_replace import Patching, Writing
from steward.tenants.controllers.tenant.observe import Seen
from steward.tenants.objects.desired import Wanted
from tests.tenants.support.fleet import resource, service

Refusal = dict[str, tuple[str, ...]]
CLAIM: Manifest = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {"resources": {"requests": {"storage": "2Gi"}}},
}
HELD: Held = (("them", ".data"),)
TWO_PORTS: Refusal = {"spec.ports[1].name": ("Duplicate value: http",)}
IMMUTABLE: Refusal = {"spec": ("Forbidden: spec is immutable after creation",)}


class Server:
    """Holds one object, refuses the first patches that are tried, and takes the others as they are."""

    def __init__(self, live: Manifest | None, *refusals: Refusal) -> None:
        self.live = live
        self.refusals = list(refusals)
        self.tried: list[AnyPatch] = []
        self.carried: list[Step] = []
        self.is_meant = False

    async def whole(self, ref: Ref) -> Manifest | None:
        return self.live

    async def patch(self, ref: Ref, patch: AnyPatch, *, dry_run: bool) -> bytes:
        assert dry_run
        self.tried.append(patch)
        if self.refusals:
            error = Invalid(422, "Invalid", "refused", {})
            error.causes = self.refusals.pop(0)
            raise error
        return msgspec.json.encode({**(self.live or {}), "changed": not isinstance(patch, StrategicPatch)})

    def contend(self, live: Manifest, answer: Manifest) -> Held:
        if self.is_meant:
            raise ConflictFound("somebody means what is there")
        return HELD

    def put_back(self, held: Held) -> None:
        assert self.carried
        assert held == HELD

    async def carry(self, step: Step) -> Effect:
        self.carried.append(step)
        return Effect.CHANGED


def living(manifest: Manifest, **spec: Any) -> Manifest:
    metadata = {**manifest["metadata"], "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], **spec}}


async def patched(
    server: Server, manifest: Manifest, strategy: str, patching: Patching | None = None
) -> Effect:
    found = msgspec.convert(resource("one", manifest, patchStrategy=strategy), TResource)
    seen = None if server.live is None else Seen(ObjectMeta(uid="u", resource_version="7"), READY_NOW)
    writing = Writing(server, server.carry, server.contend, server.put_back)  # type: ignore[arg-type]
    patching = patching or Patching(server)  # type: ignore[arg-type]
    return await patching.patched(Wanted(found, manifest, ref_of(manifest)), seen, writing)


async def test_a_list_that_the_server_cannot_merge_is_set_whole() -> None:
    server = Server(living(service("web", 81)), TWO_PORTS)
    assert await patched(server, service("web", 80), "merge") is Effect.CHANGED
    assert [type(patch) for patch in server.tried] == [StrategicPatch, MergePatch]
    [step] = server.carried
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    assert [port["port"] for port in step.patch.changes["spec"]["ports"]] == [80]


async def test_what_the_server_wrote_into_fields_that_cannot_change_stays_in_what_is_replaced() -> None:
    server = Server(living(CLAIM, volumeName="pv-1"), IMMUTABLE)
    assert await patched(server, CLAIM, "replace") is Effect.CHANGED
    first, second = (_value(patch, "/spec") for patch in server.tried)
    assert first == CLAIM["spec"]
    assert second == {**CLAIM["spec"], "volumeName": "pv-1"}
    assert [step.patch for step in server.carried if isinstance(step, Patch)] == server.tried[1:]


async def test_a_refusal_that_no_second_patch_cures_is_told_at_once() -> None:
    server = Server(living(CLAIM), {"spec.resources": ("Invalid value",)})
    with pytest.raises(Invalid) as told:
        await patched(server, CLAIM, "replace")
    assert (list(told.value.causes), len(server.tried)) == (["spec.resources"], 1)


@pytest.mark.parametrize(("strategy", "refusal"), [("merge", TWO_PORTS), ("replace", IMMUTABLE)])
async def test_where_both_are_refused_the_first_refusal_is_told(strategy: str, refusal: Refusal) -> None:
    server = Server(living(service("web", 81)), refusal, {"spec.type": ("Invalid value",)})
    with pytest.raises(Invalid) as told:
        await patched(server, service("web", 80), strategy)
    assert told.value.causes == refusal
    assert (len(server.tried), server.carried) == (2, [])


async def test_what_would_change_nothing_is_asked_once() -> None:
    live = {**living(service("web", 80)), "changed": False}
    server = Server(live)
    patching = Patching(server)  # type: ignore[arg-type]
    for _ in range(2):
        assert await patched(server, service("web", 80), "merge", patching) is Effect.UNCHANGED
    assert (len(server.tried), server.carried) == (1, [])


async def test_what_somebody_means_is_left_as_it_is() -> None:
    server = Server(living(CLAIM))
    server.is_meant = True
    with pytest.raises(ConflictFound):
        await patched(server, CLAIM, "replace")
    assert server.carried == []


@pytest.mark.parametrize("strategy", ["merge", "replace"])
async def test_what_is_not_there_is_made(strategy: str) -> None:
    server = Server(None)
    await patched(server, service("web"), strategy)
    assert server.carried == [Create(service("web"))]


def _value(patch: AnyPatch, path: str) -> Any:
    assert isinstance(patch, JsonPatch)
    return next(step["value"] for step in patch.operations if step["path"] == path)
