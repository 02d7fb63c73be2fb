"""A protected cluster: kubectl, the garbage collector and the tenants operator cannot delete it, its namespace can."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.multigres.support.cluster_deletion import SHORT_PERIODS, DeletedCluster, two_server_cluster
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.waiting import eventually
from tests.support import definitions
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import TENANT, Fleet, resource
from tests.tenants.support.operator import running_operator as running_tenants_operator

UNPROTECTED = '{"spec":{"deletionProtection":false}}'


@pytest.fixture
def protected(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[DeletedCluster]:
    """A namespace that a test may delete, with an operator that lives in another."""
    name = f"{namespace}-gone"
    kubectl("create", "namespace", name)
    deleted = DeletedCluster(kubectl, name)
    eventually(lambda: deleted.get("serviceaccount", "default"), "the namespace to be ready for pods")
    log = tmp_path / "operator.log"
    settings = {"namespace": namespace, **SHORT_PERIODS}
    with operator_with_webhooks(control_plane, kubectl, name, log, **settings):
        yield deleted
    kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


def test_a_tenant_waits_until_its_protected_cluster_may_be_deleted(
    protected: DeletedCluster, control_plane: ControlPlane, kubectl: Kubectl, tmp_path: Path
) -> None:
    definitions.install_crds(control_plane, kubectl, TENANT_KINDS)
    namespace, fleet = protected.namespace, Fleet(kubectl, protected.namespace)
    with running_tenants_operator(control_plane, namespace, tmp_path / "tenants.log"):
        database = two_server_cluster(namespace, deletionProtection=True)
        fleet.tenant(manifests=[resource("database", database, waitForReady=False)])
        fleet.until_ready()
        denied = kubectl.expect_rejection("delete", "mgc", "mini", "-n", namespace)
        assert f"MultigresCluster {namespace}/mini is protected from deletion" in denied
        # The garbage collector tries to delete the cluster, too.
        kubectl("delete", TENANT, "acme", "-n", namespace, "--cascade=foreground", "--wait=false")
        waiting = fleet.until_reason("Ready", "TenantDeletionDenied")
        assert f"kubectl patch mgc mini -n {namespace} --type merge -p '{UNPROTECTED}'" in waiting["message"]
        assert "is protected" in fleet.until_event("TenantDeletionDenied")["note"]
        assert "deletionTimestamp" not in protected.get("mgc", "mini")["metadata"]
        kubectl("patch", "mgc", "mini", "-n", namespace, "--type=merge", "-p", UNPROTECTED)
        fleet.until_deleted("mgc", "mini")
        fleet.until_deleted(TENANT, "acme")


def test_a_namespace_is_deleted_with_its_protected_cluster(
    protected: DeletedCluster, kubectl: Kubectl
) -> None:
    protected.apply(two_server_cluster(protected.namespace, deletionProtection=True))
    protected.wait_ready()
    kubectl("delete", "namespace", protected.namespace, "--wait=false")
    protected.wait_deleted()
