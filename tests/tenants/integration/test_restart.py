"""After a restart the operator writes no object that is up to date."""

from pathlib import Path

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.local.service_accounts import kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource
from tests.tenants.support.operator import running_operator

SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
WRITTEN = "tenants,secrets,configmaps,controllerrevisions"


def _versions(world: World) -> dict[str, str]:
    lines = world.kubectl(
        "get",
        WRITTEN,
        "-o",
        "jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion} {end}",
    )
    return dict(line.split("=") for line in lines.split())


def _restricted_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, directory: Path
) -> OperatorProcess:
    """An operator whose service account has permissions in this namespace only."""
    where = ("-n", namespace)
    kubectl("create", "serviceaccount", "restricted", *where)
    bound = (f"--clusterrole={TENANTS.name}", f"--serviceaccount={namespace}:restricted")
    kubectl("create", "rolebinding", "restricted", *bound, *where)
    config = directory / "restricted.kubeconfig"
    config.write_text(
        kubeconfig(control_plane, TENANTS, kubectl("create", "token", "restricted", *where).strip())
    )
    return OperatorProcess("tenants", config, namespace, directory / "second.log")


def test_a_restart_with_permissions_in_one_namespace_writes_no_object_that_is_up_to_date(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme", "umbrella")
    secrets = [resource("secret", spec=SECRET, nameTemplate="{{ .uid }}-secret")]
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        world.apply(sqlite_registry(), config_template(secrets=secrets))
        until(lambda: world.status().get("ready") == 2, world.status)
    previous = _versions(world)

    customers.add("late")
    restricted = _restricted_operator(control_plane, kubectl, namespace, tmp_path)
    with run_operator_process(restricted, sqlite_root=str(tmp_path), no_cross_namespace="true"):
        until(lambda: world.status().get("ready") == 3, world.status)
    after = _versions(world)
    assert {name: version for name, version in after.items() if name in previous} == previous
