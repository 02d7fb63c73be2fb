"""Trees, health and `why` sentences from the objects of a cluster."""

import calendar
from typing import Any

import click
import pytest

from steward.cli.commands.status import kept_claims_line, status_lines
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.coloured import styled
from steward.cli.inspect.forgotten_claims import forgotten_claims
from steward.cli.inspect.object_health import Health, health_since
from steward.cli.inspect.object_tree import CLUSTER_LABEL, build_trees
from steward.cli.inspect.render import TreeLine, describe_primaries, fit_lines, render_trees, unfolded
from steward.cli.inspect.selection import postponed_message
from steward.cli.inspect.why import why_message
from steward.kube.objects.kinds import Key, Manifest
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
        "MultigresCluster shop/db has failed because of Pod p-0 for 3 min: container postgres is in "
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
        "To do: correct the image of container gateway in spec.images of MultigresCluster shop/db, or add the pull "
        "secret it needs.",
    ),
    "deletions are held": (
        [
            tree_object(
                "TenantRegistry/crm",
                conditions=[*READY, condition("DeletionHeld", "True", "7 of 9: approve-deletion")],
            )
        ],
        "TenantRegistry shop/crm has failed for 3 min: 7 of 9: approve-deletion. "
        "To do: restore the rows, or approve the deletion: steward hold approve tenantregistry/crm -n shop.",
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


def test_an_object_in_another_namespace_belongs_to_the_tenant_of_its_labels() -> None:
    tenant = tree_object("Tenant/acme-web", conditions=READY)
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}
    found = tree_object("Deployment/web")
    labels = {"kubernetes-tenants.org/tenant": "acme-web", "kubernetes-tenants.org/tenant-namespace": "shop"}
    found["metadata"] |= {"namespace": "acme", "labels": labels}
    trees = build_trees([tree_object("TenantRegistry/crm", conditions=READY), tenant, found])
    assert [line.text for line in render_trees(trees, NOW, unfolded)][-1].strip() == (
        "└─ … Deployment acme/web: 0 of 1 replicas are updated (3 min)"
    )


def test_an_object_without_conditions_waits_since_its_spec_was_written() -> None:
    found = tree_object("StatefulSet/pool", CLUSTER)
    written = [
        {"manager": "multigres-operator", "operation": "Apply", "time": "2027-01-15T07:59:30Z"},
        {"manager": "kube", "operation": "Update", "subresource": "status", "time": "2027-01-15T07:59:59Z"},
    ]
    found["metadata"]["managedFields"] = written
    assert health_since(found) == "2027-01-15T07:59:30Z"


def test_a_template_waits_since_its_condition_changed() -> None:
    applied = condition("Applied", "False", "11/12 Tenants are ready") | {
        "lastTransitionTime": "2027-01-15T07:59:55Z"
    }
    assert health_since(tree_object("TenantTemplate/web", conditions=[applied])) == "2027-01-15T07:59:55Z"


def deleted(name: str, owner: str = "", **status: Any) -> Manifest:
    found = tree_object(name, owner, **status)
    found["metadata"]["deletionTimestamp"] = "2027-01-15T07:59:00Z"
    return found


def test_a_deletion_under_way_is_shown_with_what_is_left() -> None:
    objects = [
        deleted(CLUSTER, conditions=READY),
        deleted("Cell/a", CLUSTER, conditions=waiting("the latest change has not been reconciled")),
        tree_object("Pod/p", "Cell/a", conditions=READY),
    ]
    [node] = build_trees(objects)
    assert why_message(node, NOW) == (
        "MultigresCluster shop/db is being deleted, for 1 min; left: 1 Cell, 1 Pod."
    )
    assert render_trees((node,), NOW)[0].text.endswith("; is being deleted")


def test_an_update_of_a_cluster_that_is_being_deleted_waits_for_no_one() -> None:
    [node] = build_trees([deleted(CLUSTER, conditions=[*READY, PENDING])])
    assert len(list(status_lines(node, NOW))) == 1


def test_a_deletion_that_is_held_is_a_failure_not_a_deletion_under_way() -> None:
    [node] = build_trees(
        [deleted("TenantTemplate/web", conditions=[condition("DeletionHeld", "True", "held")])]
    )
    assert node.worst_health is Health.FAILED
    assert why_message(node, NOW).startswith("TenantTemplate shop/web has failed")


def test_a_parent_has_the_mark_of_what_it_consists_of_in_every_verb() -> None:
    objects = [
        tree_object(CLUSTER, conditions=waiting("waiting for cell c")),
        tree_object("Cell/c", CLUSTER, conditions=degraded("broken")),
    ]
    [node] = build_trees(objects)
    drawn, _ = render_trees((node,), NOW)
    told = next(status_lines(node, NOW))
    assert drawn.text[0] == told.text[0] == "✗"


def test_a_sentence_is_shown_once_at_its_cause() -> None:
    objects = [
        tree_object(CLUSTER, conditions=degraded("shard s: pod p-0 crashes")),
        tree_object(SHARD, CLUSTER, conditions=degraded("pod p-0 crashes")),
        tree_object("Pod/p-0", SHARD, containerStatuses=crashing("postgres")),
    ]
    lines = [line.text for line in render_trees(build_trees(objects), NOW)]
    assert lines[:2] == ["✗ MultigresCluster shop/db (3 min)", "└─ ✗ Shard s (3 min)"]
    assert "CrashLoopBackOff" in lines[2]


PENDING = condition("TemplateUpdateAvailable", "True") | {"reason": "WaitingForApproval"}
RUNNING = condition("OperatorUpdateAvailable", "True") | {"reason": "OperatorUpdateInProgress"}


def test_status_names_the_command_for_an_update_that_waits() -> None:
    [node] = build_trees([tree_object(CLUSTER, conditions=[*READY, PENDING])])
    assert [line.text for line in status_lines(node, NOW)] == [
        "✓ MultigresCluster shop/db: ready, 0 parts (3 min)",
        "  ! an update waits: steward updates show db -n shop",
    ]
    [running] = build_trees([tree_object(CLUSTER, conditions=[*READY, RUNNING])])
    assert len(list(status_lines(running, NOW))) == 1


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (
            {"conditions": [*READY, condition("Paused", "True")]},
            "paused: steward resume multigrescluster/db -n shop",
        ),
        ({"conditions": READY, "phase": "Hibernated"}, "hibernated: steward wake db -n shop"),
        (
            {"conditions": READY, "phase": "Stopped"},
            "stopped: no server runs; raise replicasPerCell of its pools",
        ),
    ],
    ids=["paused", "hibernated", "stopped"],
)
def test_status_and_tree_show_what_a_user_has_suspended(status: dict[str, Any], line: str) -> None:
    [node] = build_trees([tree_object(CLUSTER, **status)])
    assert [each.text for each in status_lines(node, NOW)][1:] == [f"  ! {line}"]
    [drawn] = render_trees((node,), NOW)
    assert drawn.text.endswith(f"; {line.partition(':')[0]}")


@pytest.mark.parametrize("phase", ["Hibernated", "Stopped"])
def test_a_cluster_without_servers_is_not_called_ready(phase: str) -> None:
    [node] = build_trees([tree_object(CLUSTER, conditions=READY, phase=phase, retainedClaims=["data-0"])])
    sentence, note = [line.text for line in status_lines(node, NOW)]
    assert sentence == f"✓ MultigresCluster shop/db: {phase.lower()}, 0 parts (3 min)"
    assert note.startswith(f"  ! {phase.lower()}")
    assert why_message(node, NOW) == f"MultigresCluster shop/db is {phase.lower()}, for 3 min."


def test_status_shows_the_age_of_the_last_backup_of_the_shard_that_has_the_oldest() -> None:
    times = {"a": "2026-01-02T00:00:00Z", "b": "2026-01-01T22:00:00Z"}
    shards = [
        tree_object(f"Shard/{name}", CLUSTER, conditions=READY, backup={"lastBackupAt": time})
        for name, time in times.items()
    ]
    [node] = build_trees([tree_object(CLUSTER, conditions=READY), *shards])
    now = calendar.timegm((2026, 1, 2, 1, 0, 0))
    [line] = status_lines(node, now)
    assert "ready, 2 parts, last backup 3 h ago (" in line.text
    [never] = build_trees(
        [tree_object(CLUSTER, conditions=READY), shards[0], tree_object("Shard/c", CLUSTER, conditions=READY)]
    )
    assert "backup" not in next(status_lines(never, now)).text


def test_status_shows_what_the_backups_of_all_shards_take_if_all_are_known() -> None:
    def shard(name: str, **backup: int) -> Manifest:
        status = {"lastBackupAt": "2026-01-02T00:00:00Z", **backup}
        return tree_object(f"Shard/{name}", CLUSTER, conditions=READY, backup=status)

    now = calendar.timegm((2026, 1, 2, 1, 0, 0))
    root = tree_object(CLUSTER, conditions=READY)
    [node] = build_trees([root, shard("a", repositoryBytes=3 << 30), shard("b", repositoryBytes=1 << 30)])
    assert "last backup 1 h ago, backups take 4 GiB (" in next(status_lines(node, now)).text
    [partly] = build_trees([root, shard("a", repositoryBytes=3 << 30), shard("b")])
    assert "last backup 1 h ago (" in next(status_lines(partly, now)).text


def test_status_names_the_command_for_volume_claims_that_are_kept() -> None:
    [node] = build_trees([tree_object(CLUSTER, conditions=READY, retainedClaims=["data-0", "data-1"])])
    assert [line.text for line in status_lines(node, NOW)][1:] == [
        "  ! 2 unused volume claims: steward volumes db -n shop"
    ]


def test_a_pod_has_the_role_and_the_cell_that_its_shard_reports() -> None:
    servers = [
        {"pod": "db-0", "role": "Primary", "cell": "z1"},
        {"pod": "db-1", "role": "Standby"},
        {"pod": "db-2"},
    ]
    pods = [tree_object(f"Pod/db-{number}", SHARD, conditions=READY) for number in range(3)]
    objects = [
        tree_object(CLUSTER, conditions=READY),
        tree_object(SHARD, CLUSTER, conditions=READY, servers=servers),
    ]
    trees = build_trees([*objects, *pods])
    assert [
        line.text.partition(" (")[0].split("─ ")[1] for line in render_trees(trees, NOW, unfolded)[2:]
    ] == [
        "✓ Pod db-0, primary in z1",
        "✓ Pod db-1, standby",
        "✓ Pod db-2",
    ]


APPLIED = [
    {"apiVersion": "v1", "kind": "Secret", "namespace": "shop", "name": "acme", "id": "s"},
    {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "acme", "id": "d"},
    {"apiVersion": "v1", "kind": "Namespace", "name": "acme", "id": "n"},
]


@pytest.mark.parametrize(
    ("conditions", "kinds"), [(READY, ["Namespace", "Secret"]), (waiting("x"), [])], ids=["ready", "waiting"]
)
def test_objects_that_are_not_read_are_shown_from_the_status_of_a_ready_tenant(
    conditions: list[dict[str, str]], kinds: list[str]
) -> None:
    tenant = tree_object("Tenant/acme", conditions=conditions, applied=APPLIED)
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}
    tenant["spec"] = {"templateRef": "web"}
    [root] = build_trees([tree_object("TenantRegistry/crm", conditions=READY), tenant])
    assert [child.object.ref.kind.kind for child in root.children[0].children] == kinds


ROLLOUT = {"phase": "InProgress", "totalNodes": 14, "updatedNodes": 1}


def test_tenants_that_wait_for_a_rollout_are_counted_by_status_and_named_by_why() -> None:
    template = tree_object("TenantTemplate/shop", conditions=[condition("Applied", "True")], rollout=ROLLOUT)
    [node] = build_trees([template])
    sentence = "13 Tenants wait for others of the rollout, as maxSkew says"
    assert [line.text for line in status_lines(node, NOW)][1:] == [f"  … {sentence}"]
    assert postponed_message("tenant/bolt-shop", (node,)) == (
        f"there is no tenant/bolt-shop yet: of TenantTemplate shop/shop {sentence}. "
        "`steward why tenanttemplate/shop -n shop` says what they wait for"
    )
    assert postponed_message("deployment/bolt-shop", (node,)) == ""
    assert postponed_message("bolt-web", (node,)) == ""


def test_a_claim_of_a_server_is_beside_its_pod() -> None:
    claim = tree_object("PersistentVolumeClaim/pgdata-db-main-0", phase="Bound")
    claim["metadata"]["labels"] = {CLUSTER_LABEL: "db"}
    objects = [
        tree_object(CLUSTER, conditions=READY),
        tree_object("StatefulSet/db-main", CLUSTER),
        tree_object("Pod/db-main-0", "StatefulSet/db-main", conditions=READY),
    ]
    [node] = build_trees([*objects, claim])
    names = [child.object.ref.key.name for child in node.children[0].children]
    assert names == ["db-main-0", "pgdata-db-main-0"]


def test_claims_of_clusters_that_are_gone_are_counted() -> None:
    claims = [
        {"metadata": {"namespace": "shop", "labels": {CLUSTER_LABEL: cluster}}}
        for cluster in ("db", "old", "old")
    ]
    assert forgotten_claims(claims, [Key("shop", "db")]) == {Key("shop", "old"): 2}
    assert kept_claims_line(2, Key("shop", "old"), is_gone=True) == (
        "! 2 unused volume claims of MultigresCluster shop/old, which is gone: steward volumes old -n shop"
    )


def test_status_counts_the_tenants_of_a_template() -> None:
    applied = [condition("Applied", "True")]
    [node] = build_trees(
        [tree_object("TenantTemplate/web", conditions=applied, readyTenants=12, totalTenants=12)]
    )
    [line] = status_lines(node, NOW)
    assert line.text == "✓ TenantTemplate shop/web: ready, 12 of 12 Tenants are ready (3 min)"


def test_a_watched_tree_fits_the_terminal_and_keeps_its_root() -> None:
    lines = [TreeLine(Health.READY, f"✓ line {number} of many") for number in range(9)]
    lines[7] = TreeLine(Health.FAILED, "✗ broken")
    shown = fit_lines(lines, 12, 4)
    assert [line.text for line in shown[:3]] == ["✓ line 0 of…", "✓ line 1 of…", "✓ line 2 of…"]
    assert shown[3] == TreeLine(Health.FAILED, "✗ 6 more li…")
    assert fit_lines(lines[:4], 80, 4) == lines[:4]


def test_only_the_mark_of_a_line_is_coloured() -> None:
    line = styled(TreeLine(Health.FAILED, "├─ ✗ Cell c: broken"))
    assert line == f"├─ {click.style('✗', fg='red', bold=True)} Cell c: broken"


def test_healthy_siblings_fold_into_one_line_and_problems_unfold() -> None:
    objects = [
        tree_object(CLUSTER, conditions=waiting("waiting for cell c")),
        *(tree_object(f"Cell/{name}", CLUSTER, conditions=READY) for name in "ab"),
        tree_object("Cell/c", CLUSTER, conditions=waiting("waiting for gateways")),
    ]

    assert [line.text for line in render_trees(build_trees(objects), NOW)] == [
        "… MultigresCluster shop/db (3 min)",
        "├─ … Cell c: waiting for gateways (3 min)",
        "└─ ✓ 2 × Cell",
    ]


def test_a_folded_line_names_the_primaries_below_it() -> None:
    objects = [
        tree_object(CLUSTER, conditions=READY),
        tree_object("TableGroup/t", CLUSTER, conditions=READY),
        tree_object(SHARD, "TableGroup/t", conditions=READY, primary="pg-0"),
    ]
    folded, whole = (render_trees(build_trees(objects), NOW, fold) for fold in (None, unfolded))
    assert folded[-1].text == "└─ ✓ TableGroup t, primary pg-0"
    assert whole[-1].text == "   └─ ✓ Shard s, primary pg-0 (3 min)"


def test_of_many_primaries_three_are_named() -> None:
    assert describe_primaries(["a", "b", "c", "d", "e"]) == ", primaries a, b, c and 2 more"


def test_an_object_of_unknown_state_waits() -> None:
    unknown = [condition("Ready", "Unknown", "servers: multiadmin does not answer")]
    [line] = render_trees(build_trees([tree_object(CLUSTER, conditions=unknown)]), NOW)
    assert line.text == "… MultigresCluster shop/db: servers: multiadmin does not answer (3 min)"


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [(THEN, "3 min"), ("2027-01-15T08:00:00Z", "0 s"), ("2027-01-13T07:00:00Z", "2 d"), ("", "")],
)
def test_ages_have_one_unit(stamp: str, expected: str) -> None:
    assert format_age(stamp, NOW) == expected
