"""What `tree`, `status` and `why` make of a cluster's objects."""

from typing import Any

import pytest

from steward.cli.inspect.ages import ago
from steward.cli.inspect.object_tree import MULTIGRES, TENANTS, families
from steward.cli.inspect.render import drawn
from steward.cli.inspect.why import why
from steward.kube.objects.kinds import Manifest

NOW = 1_800_000_000.0
THEN = "2027-01-15T07:57:00Z"  # three minutes before
API = {
    "MultigresCluster": MULTIGRES,
    "Cell": MULTIGRES,
    "Shard": MULTIGRES,
    "TenantRegistry": TENANTS,
    "Tenant": TENANTS,
    "StatefulSet": "apps/v1",
    "Pod": "v1",
    "PersistentVolumeClaim": "v1",
}


def thing(name: str, owner: str = "", **status: Any) -> Manifest:
    """`Kind/name`, owned by another one."""
    kind, _, own = name.partition("/")
    references = [{"uid": owner, "controller": True, "kind": "", "name": ""}] if owner else []
    meta = {"name": own, "namespace": "shop", "uid": name, "ownerReferences": references, "generation": 1}
    return {
        "apiVersion": API[kind],
        "kind": kind,
        "metadata": {**meta, "creationTimestamp": THEN},
        "status": {"observedGeneration": 1, **status},
    }


def told(type_: str, status: str, message: str = "") -> dict[str, str]:
    return {"type": type_, "status": status, "message": message, "reason": "R", "lastTransitionTime": THEN}


READY = [told("Ready", "True")]


def waiting(message: str) -> list[dict[str, str]]:
    return [told("Ready", "False", message), told("Reconciling", "True", message)]


def degraded(message: str) -> list[dict[str, str]]:
    return [told("Ready", "False", message), told("Degraded", "True", message)]


def crashing(container: str) -> list[dict[str, Any]]:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    return [{"name": container, "ready": False, "restartCount": 5, "state": state}]


CLUSTER = "MultigresCluster/db"
SHARD = "Shard/s"
UNSCHEDULED = told("PodScheduled", "False", "0/6 nodes are available: 6 Insufficient memory.")

SENTENCES = {
    "all is well": (
        [thing(CLUSTER, conditions=READY)],
        "MultigresCluster shop/db is ready, for 3 min.",
    ),
    "it says itself what is wrong": (
        [thing(CLUSTER, conditions=degraded("spec.cells[0].zone: there is no zone z9"))],
        "MultigresCluster shop/db has failed for 3 min: spec.cells[0].zone: there is no zone z9.",
    ),
    "a pod crashes": (
        [
            thing(CLUSTER, conditions=degraded("shard s: trouble")),
            thing(SHARD, CLUSTER, conditions=degraded("trouble")),
            thing("Pod/p-0", SHARD, containerStatuses=crashing("postgres")),
        ],
        "MultigresCluster shop/db has failed because of Pod p-0 for 3 min: pod p-0: container postgres is in "
        "CrashLoopBackOff (back-off). To do: read its log: kubectl logs -n shop p-0 --previous.",
    ),
    "a pod finds no node": (
        [
            thing(CLUSTER, conditions=waiting("waiting for shard s")),
            thing(SHARD, CLUSTER, conditions=waiting("waiting for pools")),
            thing("Pod/p-0", SHARD, phase="Pending", conditions=[UNSCHEDULED]),
        ],
        "MultigresCluster shop/db is not ready yet because of Pod p-0 for 3 min: cannot be scheduled: 0/6 nodes are "
        "available: 6 Insufficient memory. To do: add such nodes, or change the zone, the requests or the affinity.",
    ),
    "a claim waits": (
        [
            thing(CLUSTER, conditions=waiting("waiting for shard s")),
            thing("PersistentVolumeClaim/data", CLUSTER, phase="Pending"),
        ],
        "MultigresCluster shop/db is not ready yet because of PersistentVolumeClaim data for 3 min: is Pending. "
        "To do: see what the binder says: kubectl describe pvc -n shop.",
    ),
    "what failed is the cause, not what only waits": (
        [
            thing(CLUSTER, conditions=degraded("cell b: image")),
            thing("Cell/a", CLUSTER, conditions=waiting("waiting for gateways")),
            thing("Cell/b", CLUSTER, conditions=degraded("container gateway is in ImagePullBackOff")),
        ],
        "MultigresCluster shop/db has failed because of Cell b for 3 min: container gateway is in ImagePullBackOff. "
        "To do: mend spec.images, or give the pull secret it needs.",
    ),
    "deletions are held": (
        [
            thing(
                "TenantRegistry/crm",
                conditions=[*READY, told("DeletionHeld", "True", "7 of 9: approve-deletion")],
            )
        ],
        "TenantRegistry shop/crm has failed for 3 min: 7 of 9: approve-deletion. "
        "To do: bring the rows back, or approve that deletion as the message says.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_one_sentence_says_why(case: str) -> None:
    objects, expected = SENTENCES[case]

    [branch] = families(objects)

    assert why(branch, NOW) == expected


def test_a_tenant_belongs_to_the_registry_of_its_label() -> None:
    tenant = thing("Tenant/acme-web", conditions=degraded("template: web:1:3: no entry for key"))
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}

    [branch] = families([thing("TenantRegistry/crm", conditions=READY), tenant])

    assert [child.member.ref.key.name for child in branch.children] == ["acme-web"]
    assert "because of Tenant acme-web" in why(branch, NOW)


def test_healthy_siblings_fold_into_one_line_and_problems_unfold() -> None:
    objects = [
        thing(CLUSTER, conditions=waiting("waiting for cell c")),
        *(thing(f"Cell/{name}", CLUSTER, conditions=READY) for name in "ab"),
        thing("Cell/c", CLUSTER, conditions=waiting("waiting for gateways")),
    ]

    assert [line.text for line in drawn(families(objects), NOW)] == [
        "… MultigresCluster shop/db: waiting for cell c (3 min)",
        "├─ … Cell c: waiting for gateways (3 min)",
        "└─ ✓ 2 × Cell",
    ]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [(THEN, "3 min"), ("2027-01-15T08:00:00Z", "0 s"), ("2027-01-13T07:00:00Z", "2 d"), ("", "")],
)
def test_ages_are_told_in_one_unit(stamp: str, expected: str) -> None:
    assert ago(stamp, NOW) == expected
