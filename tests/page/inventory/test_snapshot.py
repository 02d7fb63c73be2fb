"""Snapshots, and what they share."""

from dataclasses import replace

from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import TreeNode
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.cache_rules import CLUSTER
from steward.page.inventory.inventory import TENANT
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

ACME = Key("shop", "acme-web")


def test_snapshots_that_differ_in_time_share_what_is_derived_from_the_trees() -> None:
    first = snapshot_of(*sample.sample())
    assert first.node(TENANT, ACME) is not None
    later = replace(first, version=2, now=first.now + 30)
    assert later.forest.nodes is first.forest.nodes


def test_the_health_of_a_tenant_is_that_of_its_worst_object() -> None:
    snapshot = snapshot_of(sample.registry(), sample.tenant("acme"), sample.deployment("acme-web", ready=1))
    assert snapshot.forest.tenant_health == {ACME: Health.WAITING}


def test_a_cluster_that_a_tenant_made_names_the_tenant() -> None:
    cluster = sample.cluster("acme-db")
    cluster["metadata"]["ownerReferences"] = [{"uid": "Tenant/acme-web", "controller": True}]
    snapshot = snapshot_of(sample.registry(), sample.tenant("acme"), cluster, sample.cluster())
    assert snapshot.forest.cluster_parents == {Key("shop", "acme-db"): Ref(TENANT, ACME)}
    assert snapshot.node(CLUSTER, Key("shop", "db")) is not None


def test_a_root_walks_through_its_objects_once() -> None:
    snapshot = snapshot_of(sample.registry(), sample.tenant("acme"), sample.deployment("acme-web", ready=1))
    (root,) = snapshot.trees
    assert root.worst_health is TreeNode(*root).worst_health is Health.WAITING
    assert vars(root) == {"worst_health": Health.WAITING}
