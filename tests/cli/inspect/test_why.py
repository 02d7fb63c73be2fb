"""`why` chooses its advice by the text of messages: each pattern must match a message of the operators' own code."""

from collections.abc import Callable

import msgspec
import pytest

from steward.cli.inspect.find import find_node
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.inspect.why import find_cause, why_message
from steward.kube.objects.readiness import NotReady
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cell.reconciler import NO_RECORD
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.status.pod_problems import ProvisioningTimes, first_hint, first_problem
from steward.multigres.template_updates.candidate import describe_problems
from steward.multigres.views import ClaimView, PodView
from steward.tenants.controllers.tenant.observe import evaluate_ready_when
from steward.tenants.guard.approval import DeletionHold, HoldReason
from tests.cli.support.tree_objects import CLUSTER, READY, THEN, condition, degraded, tree_object, waiting

NOW = 1_800_000_000.0
META = {"name": "pool-0", "namespace": "shop", "creationTimestamp": THEN}


def pod(**status: object) -> PodView:
    return msgspec.convert({"metadata": META, "status": status}, PodView)


def crash_message() -> str:
    ended = {"terminated": {"reason": "Error", "exitCode": 1}}
    container = {"name": "postgres", "restartCount": 9, "state": {"running": {}}, "lastState": ended}
    return first_problem([pod(containerStatuses=[container])])


def image_message() -> str:
    container = {"name": "postgres", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    return first_problem([pod(containerStatuses=[container])])


def unscheduled_message() -> str:
    unscheduled = condition("PodScheduled", "False", "0/6 nodes are available: 6 Insufficient memory.")
    return first_hint([pod(conditions=[unscheduled])], [], ProvisioningTimes(NOW))


def unbound_message() -> str:
    claim = msgspec.convert({"metadata": META, "status": {"phase": "Pending"}}, ClaimView)
    return first_hint([], [claim], ProvisioningTimes(NOW))


def missing_template_message() -> str:
    spec = msgspec.convert({"templateDefaults": {"coreTemplate": "gone"}}, MultigresClusterSpec)
    return describe_problems(resolve(ClusterIdentity("shop", "db"), spec, Templates({}, {}, {})).problems[:1])


MULTIGRES_MESSAGES = {
    crash_message: "read its log: kubectl logs -n shop pool-0 --previous",
    image_message: "correct the image of container postgres in spec.images of MultigresCluster shop/db, or add the "
    "pull secret it needs",
    unscheduled_message: "add nodes that fit, or change the zone, the requests or the affinity",
    unbound_message: "see the events of the claim: kubectl describe pvc -n shop",
    missing_template_message: "create it, or name another",
    lambda: NO_RECORD: "look for its topology server in: steward tree multigrescluster/db -n shop",
}


@pytest.mark.parametrize(("message", "cure"), MULTIGRES_MESSAGES.items())
def test_messages_of_the_multigres_operator_have_a_cure(message: Callable[[], str], cure: str) -> None:
    [node] = build_trees([tree_object(CLUSTER, conditions=degraded(message()))])

    assert why_message(node, NOW).endswith(f" To do: {cure}.")


def test_a_held_deletion_has_a_cure() -> None:
    held = DeletionHold.for_tenants(HoldReason.TOO_MANY, ["acme-web", "zeta-web"])
    conditions = [*READY, condition("DeletionHeld", "True", held.message)]

    [node] = build_trees([tree_object("TenantRegistry/crm", conditions=conditions)])

    assert why_message(node, NOW).endswith(
        " (acme-web, zeta-web). To do: restore the rows, or approve the deletion: steward hold approve "
        "tenantregistry/crm -n shop."
    )


@pytest.mark.parametrize("count", [1, 2])
def test_rejected_rows_have_a_cure(count: int) -> None:
    rejected = [{"uid": "acme", "reason": "the host is empty"}]
    registry = tree_object("TenantRegistry/crm", conditions=READY, rejected=rejected, rejectedRows=count)

    [node] = build_trees([registry])

    assert why_message(node, NOW).endswith("correct the table; `steward rows crm -n shop` lists all of them.")


def test_a_pod_whose_probe_fails_has_a_cure() -> None:
    """The kubelet writes this condition."""
    unready = [condition("Ready", "False", "containers with unready status: [app]")]
    deployment = tree_object(CLUSTER, conditions=[condition("Ready", "False", "waits")])
    found = tree_object("Pod/app-1", owner=deployment["metadata"]["uid"], conditions=unready)

    [node] = build_trees([deployment, found])

    assert why_message(node, NOW).endswith(
        "To do: see why its probe fails: kubectl describe pod -n shop app-1."
    )


def test_the_cure_of_a_held_template_is_not_about_rows() -> None:
    held = DeletionHold.for_tenants(HoldReason.TOO_MANY, ["acme-web", "zeta-web"])
    conditions = [condition("DeletionHeld", "True", held.message)]
    [node] = build_trees([tree_object("TenantTemplate/web", conditions=conditions)])
    assert why_message(node, NOW).endswith(
        "To do: leave it held, or approve the deletion: steward hold approve tenanttemplate/web -n shop."
    )


def tenant_with(message: str) -> tuple[TreeNode, ...]:
    """A registry with a Tenant of the template `web`, whose Deployment has a pod with this problem."""
    tenant = tree_object("Tenant/acme-web", conditions=waiting("0 of 1 resources are ready"))
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}
    tenant["spec"] = {"templateRef": "web"}
    deployment = tree_object("Deployment/acme-web", "Tenant/acme-web")
    pod = tree_object("Pod/acme-1", "Deployment/acme-web", conditions=degraded(message))
    return build_trees([tree_object("TenantRegistry/crm", conditions=READY), tenant, deployment, pod])


@pytest.mark.parametrize("name", ["tenantregistry/crm", "tenant/acme-web", "deployment/acme-web"])
def test_the_image_of_a_tenant_is_corrected_in_its_template(name: str) -> None:
    trees = tenant_with("pod acme-1: container app is in ImagePullBackOff")
    assert why_message(find_node(trees, name), NOW).endswith(
        "To do: correct the image of container app in TenantTemplate shop/web, or add the pull secret it needs."
    )


@pytest.mark.parametrize("rule", ["{{ .status.phas }}", "false", "perhaps"])
def test_a_readiness_rule_has_a_cure(rule: str) -> None:
    readiness = evaluate_ready_when(rule, {"status": {}})
    assert isinstance(readiness, NotReady)
    trees = tenant_with(readiness.message)
    assert why_message(trees[0], NOW).endswith(
        "To do: correct readyWhen in TenantTemplate shop/web, if the object should count as ready."
    )


def test_a_pod_that_is_pending_is_not_blamed_on_a_claim() -> None:
    found = tree_object("Pod/app-1", CLUSTER, phase="Pending", conditions=[condition("PodScheduled", "True")])
    [node] = build_trees([tree_object(CLUSTER, conditions=READY), found])
    assert why_message(node, NOW).endswith("To do: see its events: kubectl describe pod -n shop app-1.")


def test_a_suggested_command_has_the_cluster_options() -> None:
    [node] = build_trees([tree_object(CLUSTER)])
    assert why_message(node, NOW, " --local").endswith("steward doctor --local.")


def test_an_object_without_conditions_has_a_cure() -> None:
    [node] = build_trees([tree_object(CLUSTER)])

    assert why_message(node, NOW).endswith("steward doctor.")


def test_a_workload_without_its_replicas_has_a_cure() -> None:
    workload = tree_object("StatefulSet/pool", CLUSTER, replicas=1, readyReplicas=0)
    workload["spec"] = {"replicas": 1}

    [node] = build_trees([tree_object(CLUSTER, conditions=READY), workload])

    assert why_message(node, NOW).endswith("look at its pods: kubectl describe pods -n shop.")


def test_a_held_deletion_is_the_cause_whatever_has_failed_below_it() -> None:
    held = "12 Tenants would be deleted with it; approve with approve-deletion: 12-ab"
    registry = tree_object("TenantRegistry/r", conditions=[*READY, condition("DeletionHeld", "True", held)])
    tenant = tree_object("Tenant/t", conditions=degraded("an image cannot be pulled"))
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "r"}
    [node] = build_trees([registry, tenant])
    assert find_cause(node) is node
    assert "12 Tenants would be deleted with it" in why_message(node, NOW)
