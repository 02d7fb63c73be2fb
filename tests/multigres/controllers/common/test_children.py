"""Children of an owner: desired ones are applied, unwanted ones are deleted, terminating ones are waited for."""

import json
from typing import Any

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import DEPLOYMENT, SERVICE, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.common.children import NO_LONGER_DESIRED, Children
from steward.runtime.plan.steps import Apply, Delete

OWNER = ObjectMeta(name="mini-z1", namespace="shop", uid="owner")
RULES = MultigresCacheRules("")
CHILD_RULES = (RULES.deployment, RULES.service)


def manifest(kind: Kind, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": {}}


class CachedChildren:
    """Children with real stores."""

    def __init__(self) -> None:
        self.stores: dict[Kind, Store[Any]] = {rule.kind: Store(rule) for rule in CHILD_RULES}
        self.children = Children(self.stores.__getitem__)

    def add(self, kind: Kind, name: str, owner: str = "owner", **metadata: Any) -> None:
        child = manifest(kind, name)
        labels = {"app.kubernetes.io/managed-by": "multigres-operator"}
        reference = {"apiVersion": "v1", "kind": "Cell", "name": "mini-z1", "uid": owner, "controller": True}
        child["metadata"] |= {"uid": name, "resourceVersion": "1", "labels": labels}
        child["metadata"] |= {"ownerReferences": [reference], **metadata}
        self.stores[kind].observe_write(json.dumps(child).encode())


@pytest.fixture
def cached() -> CachedChildren:
    return CachedChildren()


def test_desired_children_are_applied_and_unwanted_ones_deleted_by_uid(cached: CachedChildren) -> None:
    cached.add(SERVICE, "old")
    desired = [manifest(DEPLOYMENT, "gateway")]
    [apply, delete] = cached.children.plan_children(OWNER, desired, CHILD_RULES)
    assert apply == Apply(desired[0], only_if_absent=True)
    assert isinstance(delete, Delete)
    assert (delete.ref.key.name, delete.uid, delete.reason) == ("old", "old", NO_LONGER_DESIRED)


def test_an_existing_child_is_applied_even_if_it_exists(cached: CachedChildren) -> None:
    cached.add(DEPLOYMENT, "gateway")
    desired = [manifest(DEPLOYMENT, "gateway")]
    assert cached.children.apply_steps(desired) == (Apply(desired[0], only_if_absent=False),)


@pytest.mark.parametrize(
    ("owner", "metadata"),
    [("another", {}), ("owner", {"deletionTimestamp": "2026-01-01T00:00:00Z"})],
    ids=["of another owner", "terminating"],
)
def test_which_children_are_not_deleted(cached: CachedChildren, owner: str, metadata: dict[str, Any]) -> None:
    cached.add(SERVICE, "old", owner, **metadata)
    assert cached.children.unwanted_children(OWNER, [], CHILD_RULES) == []


def test_a_terminating_child_is_not_applied_and_reported(cached: CachedChildren) -> None:
    cached.add(DEPLOYMENT, "gateway", deletionTimestamp="2026-01-01T00:00:00Z")
    desired = [manifest(DEPLOYMENT, "gateway")]
    assert cached.children.apply_steps(desired) == ()
    [component] = cached.children.terminating(desired)
    assert component.name == "Deployment gateway to be gone and recreated"
