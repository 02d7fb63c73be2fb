"""Trees, health and `why` sentences from the objects of a cluster."""

from typing import Any

import pytest

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_tree import build_trees
from steward.cli.inspect.render import render_trees
from steward.cli.inspect.why import why_message
from tests.cli.support.tree_objects import CLUSTER, READY, THEN, condition, degraded, tree_object, waiting

NOW = 1_800_000_000.0


def crashing(container: str) -> list[dict[str, Any]]:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    return [{"name": container, "ready": False, "restartCount": 5, "state": state}]


SHARD = "Shard/s"
UNSCHEDULED = condition("PodScheduled", "False", "0/6 nodes are available: 6 Insufficient memory.")

SENTENCES = {
    "it is ready": (
        [tree_object(CLUSTER, conditions=READY)],
        "MultigresCluster shop/db is ready, for 3 min.",
    ),
    "its own condition names the problem": (
        [tree_object(CLUSTER, conditions=degraded("spec.cells[0].zone: there is no zone z9"))],
        "MultigresCluster shop/db has failed for 3 min: spec.cells[0].zone: there is no zone z9.",
    ),
    "a pod crashes": (
        [
            tree_object(CLUSTER, conditions=degraded("shard s: trouble")),
            tree_object(SHARD, CLUSTER, conditions=degraded("trouble")),
            tree_object("Pod/p-0", SHARD, containerStatuses=crashing("postgres")),
        ],
        "MultigresCluster shop/db has failed because of Pod p-0 for 3 min: pod p-0: container postgres is in "
        "CrashLoopBackOff (back-off). To do: read its log: kubectl logs -n shop p-0 --previous.",
    ),
    "a pod finds no node": (
        [
            tree_object(CLUSTER, conditions=waiting("waiting for shard s")),
            tree_object(SHARD, CLUSTER, conditions=waiting("waiting for pools")),
            tree_object("Pod/p-0", SHARD, phase="Pending", conditions=[UNSCHEDULED]),
        ],
        "MultigresCluster shop/db is not ready yet because of Pod p-0 for 3 min: cannot be scheduled: 0/6 nodes "
        "are available: 6 Insufficient memory. To do: add nodes that fit, or change the zone, the requests or the "
        "affinity.",
    ),
    "a claim waits": (
        [
            tree_object(CLUSTER, conditions=waiting("waiting for shard s")),
            tree_object("PersistentVolumeClaim/data", CLUSTER, phase="Pending"),
        ],
        "MultigresCluster shop/db is not ready yet because of PersistentVolumeClaim data for 3 min: is Pending. "
        "To do: see the events of the claim: kubectl describe pvc -n shop.",
    ),
    "a failed object is the cause, not one that waits": (
        [
            tree_object(CLUSTER, conditions=degraded("cell b: image")),
            tree_object("Cell/a", CLUSTER, conditions=waiting("waiting for gateways")),
            tree_object("Cell/b", CLUSTER, conditions=degraded("container gateway is in ImagePullBackOff")),
        ],
        "MultigresCluster shop/db has failed because of Cell b for 3 min: container gateway is in ImagePullBackOff. "
        "To do: correct spec.images, or add the pull secret it needs.",
    ),
    "deletions are held": (
        [
            tree_object(
                "TenantRegistry/crm",
                conditions=[*READY, condition("DeletionHeld", "True", "7 of 9: approve-deletion")],
            )
        ],
        "TenantRegistry shop/crm has failed for 3 min: 7 of 9: approve-deletion. "
        "To do: restore the rows, or approve the deletion as the message says.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_the_cause_is_explained_in_one_sentence(case: str) -> None:
    objects, expected = SENTENCES[case]

    [node] = build_trees(objects)

    assert why_message(node, NOW) == expected


def test_a_tenant_belongs_to_the_registry_of_its_label() -> None:
    tenant = tree_object("Tenant/acme-web", conditions=degraded("template: web:1:3: no entry for key"))
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}

    [node] = build_trees([tree_object("TenantRegistry/crm", conditions=READY), tenant])

    assert [child.object.ref.key.name for child in node.children] == ["acme-web"]
    assert "because of Tenant acme-web" in why_message(node, NOW)


def test_healthy_siblings_fold_into_one_line_and_problems_unfold() -> None:
    objects = [
        tree_object(CLUSTER, conditions=waiting("waiting for cell c")),
        *(tree_object(f"Cell/{name}", CLUSTER, conditions=READY) for name in "ab"),
        tree_object("Cell/c", CLUSTER, conditions=waiting("waiting for gateways")),
    ]

    assert [line.text for line in render_trees(build_trees(objects), NOW)] == [
        "… MultigresCluster shop/db: waiting for cell c (3 min)",
        "├─ … Cell c: waiting for gateways (3 min)",
        "└─ ✓ 2 × Cell",
    ]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [(THEN, "3 min"), ("2027-01-15T08:00:00Z", "0 s"), ("2027-01-13T07:00:00Z", "2 d"), ("", "")],
)
def test_ages_have_one_unit(stamp: str, expected: str) -> None:
    assert format_age(stamp, NOW) == expected
