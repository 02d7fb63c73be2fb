"""A restart of the operator is no event: what is as it should be is not written again."""

from pathlib import Path

from steward.install.operators import TENANTS
from steward.local.control_plane import ControlPlane
from steward.local.service_accounts import kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import Operator, running
from tests.tenants.conftest import running_operator
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource

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


def _narrow(control_plane: ControlPlane, kubectl: Kubectl, namespace: str, directory: Path) -> Operator:
    """An operator whose account has its rights in this namespace and nowhere else."""
    where = ("-n", namespace)
    kubectl("create", "serviceaccount", "narrow", *where)
    bound = (f"--clusterrole={TENANTS.name}", f"--serviceaccount={namespace}:narrow")
    kubectl("create", "rolebinding", "narrow", *bound, *where)
    config = directory / "narrow.kubeconfig"
    config.write_text(
        kubeconfig(control_plane, TENANTS, kubectl("create", "token", "narrow", *where).strip())
    )
    return Operator("tenants", config, namespace, directory / "second.log")


def test_a_restart_with_rights_in_the_namespace_alone_writes_nothing_that_is_as_it_should_be(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, customers: Customers, tmp_path: Path
) -> None:
    world = World(kubectl, namespace)
    customers.add("acme", "umbrella")
    secrets = [resource("secret", spec=SECRET, nameTemplate="{{ .uid }}-secret")]
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        world.apply(sqlite_registry(), config_template(secrets=secrets))
        until(lambda: world.status().get("ready") == 2, world.status)
    before = _versions(world)

    customers.add("late")
    narrow = _narrow(control_plane, kubectl, namespace, tmp_path)
    with running(narrow, sqlite_root=str(tmp_path), no_cross_namespace="true"):
        until(lambda: world.status().get("ready") == 3, world.status)
    after = _versions(world)
    assert {name: version for name, version in after.items() if name in before} == before
