"""Labels of pods and claims of a StatefulSet are put back; members of others stay as they are."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET, Key, Kind, Manifest, Ref
from steward.kube.objects.meta import Metadata, ObjectMeta, OwnerReference
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.set_members import SetMembers
from steward.runtime.plan.steps import Patch

SELECTED = {"multigres.com/cluster": "mini", "multigres.com/pool": "main"}
MANAGED = {"app.kubernetes.io/managed-by": "multigres-operator"}
SET: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "pool", "namespace": "shop"},
    "spec": {"selector": {"matchLabels": SELECTED}, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
}
CONTROLLER = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "name": "pool",
    "uid": "set",
    "controller": True,
}


class Members:
    """A set with one replica, and the objects of the namespace without the operator's label."""

    def __init__(self) -> None:
        self.stores: dict[Kind, Store[Any]] = {}
        self.unlabelled: dict[Ref, Metadata] = {}
        self.asked: list[Ref] = []
        context = SimpleNamespace(
            rules=MultigresCacheRules(""),
            store=lambda rule: self.stores.setdefault(rule.kind, Store(rule)),
            foreign_objects=SimpleNamespace(find_unlabelled=self.find_unlabelled),
        )
        self.members = SetMembers(cast(MultigresContext, context))
        spec = {**SET["spec"], "replicas": 1}
        self.add(
            STATEFUL_SET, "pool", MANAGED, uid="set", spec=spec, status={"replicas": 1, "readyReplicas": 1}
        )

    async def find_unlabelled(self, ref: Ref) -> Metadata | None:
        self.asked.append(ref)
        return self.unlabelled.get(ref)

    def add(self, kind: Kind, name: str, labels: dict[str, str], uid: str = "u", **fields: Any) -> None:
        owners = fields.pop("owners", [])
        metadata = {"name": name, "namespace": "shop", "uid": uid, "resourceVersion": "1", "labels": labels}
        kinds = {"apiVersion": kind.api_version, "kind": kind.kind}
        body = {**kinds, **fields, "metadata": {**metadata, "ownerReferences": owners}}
        self.stores[kind].observe_write(json.dumps(body).encode())

    async def relabelled(self) -> list[str]:
        steps = await self.members.relabel_steps([SET])
        patches = [step for step in steps if isinstance(step, Patch)]
        for step in patches:
            assert isinstance(step.patch, MergePatch)
            assert step.patch.changes["metadata"]["labels"] == {**SELECTED, **MANAGED}
            assert step.patch.changes["metadata"]["uid"]
        return [step.ref.key.name for step in patches]


@pytest.fixture
def members() -> Members:
    return Members()


async def test_members_with_their_labels_cost_no_request(members: Members) -> None:
    members.add(POD, "pool-0", {**SELECTED, **MANAGED}, owners=[CONTROLLER])
    members.add(PERSISTENT_VOLUME_CLAIM, "data-pool-0", {**SELECTED, **MANAGED})
    assert await members.relabelled() == []
    assert members.asked == []


async def test_a_pod_and_a_claim_without_a_label_of_the_selector_get_it_back(members: Members) -> None:
    members.add(POD, "pool-0", {**SELECTED, **MANAGED, "multigres.com/pool": "taken"})
    members.add(PERSISTENT_VOLUME_CLAIM, "data-pool-0", MANAGED)
    assert await members.relabelled() == ["pool-0", "data-pool-0"]


async def test_a_pod_of_another_controller_stays_as_it_is(members: Members) -> None:
    members.add(POD, "pool-0", MANAGED, owners=[{**CONTROLLER, "uid": "another"}])
    members.add(PERSISTENT_VOLUME_CLAIM, "data-pool-0", {**SELECTED, **MANAGED})
    assert await members.relabelled() == []


@pytest.mark.parametrize(
    ("labels", "relabelled"),
    [
        (SELECTED, ["data-pool-0"]),
        ({"multigres.com/cluster": "mini"}, ["data-pool-0"]),
        ({"multigres.com/pool": "main"}, []),
        ({**SELECTED, "multigres.com/cell": "z1"}, []),
        ({}, []),
    ],
    ids=["of the set", "of a set of the Go operator", "of no cluster", "of another set", "of a user"],
)
async def test_a_claim_that_is_not_cached_is_recognized_by_its_labels(
    members: Members, labels: dict[str, str], relabelled: list[str]
) -> None:
    members.add(POD, "pool-0", {**SELECTED, **MANAGED}, owners=[CONTROLLER])
    members.unlabelled[_ref(PERSISTENT_VOLUME_CLAIM, "data-pool-0")] = Metadata(
        ObjectMeta(name="data-pool-0", uid="u", labels=labels)
    )
    assert await members.relabelled() == relabelled


@pytest.mark.parametrize(
    ("controller", "relabelled"), [("set", ["pool-0"]), ("another", [])], ids=["of the set", "of another"]
)
async def test_a_pod_that_is_not_cached_is_recognized_by_its_controller(
    members: Members, controller: str, relabelled: list[str]
) -> None:
    members.add(PERSISTENT_VOLUME_CLAIM, "data-pool-0", {**SELECTED, **MANAGED})
    owners = (OwnerReference(uid=controller, controller=True),)
    meta = ObjectMeta(name="pool-0", uid="u", labels=SELECTED, owner_references=owners)
    members.unlabelled[_ref(POD, "pool-0")] = Metadata(meta)
    assert await members.relabelled() == relabelled


def _ref(kind: Kind, name: str) -> Ref:
    return Ref(kind, Key("shop", name))
