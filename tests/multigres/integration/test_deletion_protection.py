"""A protected cluster: kubectl, the garbage collector and the tenants operator cannot delete it, its namespace can.

One operator with webhooks, which lives in another namespace, serves a namespace for the tenant and one that is deleted
with all that the operator keeps: a protected cluster, an unprotected one, and templates in use.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.multigres.support.cluster_deletion import SHORT_PERIODS, DeletedCluster, two_server_cluster
from tests.multigres.support.clusters import small_cluster
from tests.multigres.support.idle_clusters import NO_WEB, idle_cluster
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.served_namespaces import new_namespaces
from tests.multigres.support.template_update_scenario import TemplateUpdateScenario
from tests.multigres.support.waiting import eventually
from tests.support import definitions
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import TENANT, Fleet, resource
from tests.tenants.support.operator import running_operator as running_tenants_operator

UNPROTECTED = '{"spec":{"deletionProtection":false}}'
IN_USE = "multigres.com/in-use-by-demo"


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with new_namespaces(api_server, 3) as (own, *homes):
        settings = {"namespace": own, **SHORT_PERIODS}
        with operator_with_webhooks(control_plane, kubectl, ",".join(homes), log, **settings):
            yield homes


@pytest.fixture(scope="module")
def ended(served: list[str], kubectl: Kubectl) -> DeletedCluster:
    """A namespace whose deletion has begun."""
    found = DeletedCluster(kubectl, served[0])
    found.apply(two_server_cluster(found.namespace, deletionProtection=True, **NO_WEB))
    found.apply(small_cluster(found.namespace, "plain", **NO_WEB))
    templates = TemplateUpdateScenario(kubectl, found.namespace)
    templates.create({})
    for kind, name in (("celltemplate", "gate"), ("shardtemplate", "std")):
        templates.wait_for_finalizers(kind, name, IN_USE)
    for name in ("mini", "plain"):
        found.wait_ready(name)
    kubectl("delete", "namespace", found.namespace, "--wait=false")
    return found


def test_a_tenant_waits_until_its_protected_cluster_may_be_deleted(
    served: list[str], control_plane: ControlPlane, kubectl: Kubectl, tmp_path: Path
) -> None:
    definitions.install_crds(control_plane, kubectl, TENANT_KINDS)
    namespace, fleet = served[1], Fleet(kubectl, served[1])
    with running_tenants_operator(control_plane, namespace, tmp_path / "tenants.log"):
        database = idle_cluster(namespace, "mini", deletionProtection=True)
        fleet.tenant(manifests=[resource("database", database, waitForReady=False)])
        fleet.until_ready()
        denied = kubectl.expect_rejection("delete", "mgc", "mini", "-n", namespace)
        assert f"MultigresCluster {namespace}/mini is protected from deletion" in denied
        # The garbage collector tries to delete the cluster, too.
        kubectl("delete", TENANT, "acme", "-n", namespace, "--cascade=foreground", "--wait=false")
        waiting = fleet.until_reason("Ready", "TenantDeletionDenied")
        assert f"kubectl patch mgc mini -n {namespace} --type merge -p '{UNPROTECTED}'" in waiting["message"]
        assert "is protected" in fleet.until_event("TenantDeletionDenied")["note"]
        assert "deletionTimestamp" not in kubectl.json("get", "mgc", "mini", "-n", namespace)["metadata"]
        kubectl("patch", "mgc", "mini", "-n", namespace, "--type=merge", "-p", UNPROTECTED)
        fleet.until_deleted("mgc", "mini")
        fleet.until_deleted(TENANT, "acme")


def test_a_namespace_is_deleted_with_its_protected_cluster(ended: DeletedCluster) -> None:
    ended.wait_gone("mgc", "mini")


def test_a_namespace_is_deleted_with_its_unprotected_cluster(ended: DeletedCluster) -> None:
    ended.wait_gone("mgc", "plain")


def test_a_terminating_namespace_deletes_its_templates(ended: DeletedCluster) -> None:
    ended.wait_gone("celltemplate", "gate")
    ended.wait_gone("shardtemplate", "std")


def test_nothing_keeps_a_terminating_namespace(ended: DeletedCluster, kubectl: Kubectl) -> None:
    ended.wait_deleted()
    chosen = ("--field-selector", f"metadata.name={ended.namespace}")
    eventually(lambda: not kubectl.json("get", "namespaces", *chosen)["items"], "the namespace to go")
