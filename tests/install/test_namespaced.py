"""Operators of some namespaces, run as installed: with their token, the flags of their Deployment and bound rights."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.values import NAMESPACE
from steward.local.control_plane import ControlPlane
from steward.local.ports import free_ports
from steward.local.service_accounts import kubeconfig, service_account_user
from steward.testkit.audit import AuditLog
from tests.attacks.support.stolen_token import Attempt, StolenToken
from tests.install.support.steward import Steward
from tests.multigres.support.cluster_deletion import two_server_cluster
from tests.multigres.support.waiting import run_async
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import resource

HERE, ELSEWHERE = "here", "elsewhere"
SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
CONFIGURATIONS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"


class Installed(NamedTuple):
    """An installation of both operators for one namespace, which run as processes of the test."""

    plane: ControlPlane
    kubectl: Kubectl

    def token(self, operator: ShippedOperator) -> str:
        return self.kubectl("create", "token", operator.name, "-n", NAMESPACE).strip()

    def arguments(self, operator: ShippedOperator) -> tuple[str, ...]:
        """The flags of the Deployment."""
        found = self.kubectl.json("get", "deployment", operator.name, "-n", NAMESPACE)
        [container] = found["spec"]["template"]["spec"]["containers"]
        return tuple(container["args"][2:])


@pytest.fixture(scope="module")
def installed(
    own_plane: ControlPlane, own_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    values = tmp_path_factory.mktemp("values") / "values.yaml"
    limited = {operator.short_name: {"namespaces": [HERE]} for operator in OPERATORS}
    values.write_text(json.dumps(limited))
    for name in (HERE, ELSEWHERE):
        own_kubectl("create", "namespace", name)
    steward = Steward(own_plane)
    steward("install", "--apply", "--values", str(values))
    yield Installed(own_plane, own_kubectl)
    # No test needs this control plane any more, so nothing waits until the namespaces are gone.
    steward("uninstall", "--yes", "--release", "--values", str(values))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("operators")


@pytest.fixture(scope="module")
def running(installed: Installed, directory: Path) -> Iterator[Installed]:
    with ExitStack() as stack:
        for operator in OPERATORS:
            stack.enter_context(_run(installed, operator, directory))
        yield installed


def _run(
    installed: Installed, operator: ShippedOperator, directory: Path
) -> AbstractContextManager[subprocess.Popen[bytes]]:
    config = directory / f"{operator.short_name}.kubeconfig"
    config.write_text(kubeconfig(installed.plane, operator, installed.token(operator)))
    flags = installed.arguments(operator)
    process = OperatorProcess(
        operator.short_name, config, "", directory / f"{operator.short_name}.log", flags
    )
    metrics, webhooks = free_ports(2)
    return run_operator_process(
        process,
        namespace=NAMESPACE,
        leader_elect="true",
        webhooks="on",
        webhook_bind_address=f"127.0.0.1:{webhooks}",
        metrics_bind_address=f"127.0.0.1:{metrics}",
        sqlite_root=str(directory),
    )


def test_operators_of_one_namespace_work_with_rights_in_this_namespace(
    running: Installed, directory: Path
) -> None:
    audit = AuditLog(running.plane.audit_log, running.plane.kubeconfig)
    start = run_async(audit.mark())
    _wait_for_bundles(running.kubectl)
    # No container runs here, so nothing answers the webhooks.
    running.kubectl("delete", CONFIGURATIONS, "-l", "app.kubernetes.io/managed-by")
    world = World(running.kubectl, HERE)
    customers = Customers(directory)
    customers.add("acme", "umbrella")
    secrets = [resource("secret", spec=SECRET, nameTemplate="{{ .uid }}-secret")]

    world.apply(sqlite_registry(), config_template(secrets=secrets), two_server_cluster(HERE))

    until(lambda: world.status().get("ready") == 2, world.status)
    until(lambda: len(_stateful_sets(running.kubectl)) >= 2, lambda: _stateful_sets(running.kubectl))
    assert world.get("multigrescluster", "mini")["status"]["conditions"]
    calls = run_async(audit.calls_since(start))
    users = {service_account_user(operator) for operator in OPERATORS}
    assert [str(each.call) for each in calls if each.user in users and each.code == 403] == []


def _wait_for_bundles(kubectl: Kubectl) -> None:
    """Until every webhook of both operators has a CA bundle; all are for the namespace only."""

    def webhooks() -> list[dict[str, object]]:
        found = kubectl.json("get", CONFIGURATIONS, "-l", "app.kubernetes.io/managed-by")["items"]
        return [webhook for each in found for webhook in each["webhooks"]]

    until(lambda: all("caBundle" in str(each["clientConfig"]) for each in webhooks()), webhooks)
    assert len(webhooks()) > 5
    assert all(f"'values': ['{HERE}']" in str(each["namespaceSelector"]) for each in webhooks())


def _stateful_sets(kubectl: Kubectl) -> list[str]:
    return [item["metadata"]["name"] for item in kubectl.json("get", "statefulsets", "-n", HERE)["items"]]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_the_token_of_a_namespaced_operator_reads_and_writes_nothing_elsewhere(
    installed: Installed, operator: ShippedOperator
) -> None:
    token = StolenToken(installed.plane, installed.token(operator))
    made = {"metadata": {"name": "thief"}}
    # Only what the roles of an operator of all namespaces grant: other denials would count as missing rights.
    whole = ["/api/v1/secrets", "/apis/apps/v1/deployments"]
    whole += ["/api/v1/namespaces"] if operator == TENANTS else []

    assert token.attempt(Attempt("GET", f"/api/v1/namespaces/{HERE}/secrets")).status == 200
    for namespace in (ELSEWHERE, "kube-system", "default"):
        for kind in ("secrets", "configmaps"):
            path = f"/api/v1/namespaces/{namespace}/{kind}"
            assert token.attempt(Attempt("GET", path)).status == 403
            assert token.attempt(Attempt("POST", path, made)).status == 403
    for path in whole:
        assert token.attempt(Attempt("GET", path)).status == 403


def test_doctor_knows_the_roles_of_a_namespaced_operator(installed: Installed) -> None:
    done = Steward(installed.plane).run("doctor", "-n", HERE)

    for operator in (MULTIGRES, TENANTS):
        assert f"✓ {operator.name} rights: the shipped roles are installed and bound" in done.stdout
        assert f" {operator.name} pods: " in done.stdout
