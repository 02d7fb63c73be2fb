"""The operators as the chart installs them: in their image, two replicas each, under faults and an upgrade.

NetworkPolicies are applied and accepted; the network of these clusters does not enforce them.
"""

from __future__ import annotations

import itertools
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.values import NAMESPACE
from tests.e2e.support.admission_load import admission_load
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.installation import Installation, OperatorPod
from tests.e2e.support.tenants import Shop, deployment, template
from tests.e2e.support.user_commands import stopped_kubelet
from tests.e2e.support.waiting import eventually
from tests.support.database_servers import DatabaseServer

SCRAPER = "scraper"
MEBIBYTE = 1024**2
STOPPED_SECONDS = 120.0
each_operator = pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)


@pytest.fixture
def shop(cluster: ContainerCluster, installation: Installation, database: DatabaseServer, pods: str) -> Shop:
    return Shop(cluster, pods, database)


@pytest.fixture(scope="module")
def scraper(cluster: ContainerCluster, installation: Installation) -> Iterator[str]:
    """The token of an account that may read metrics."""
    cluster.kubectl("create", "serviceaccount", SCRAPER, "-n", NAMESPACE)
    account = ("--clusterrole=steward-metrics-reader", f"--serviceaccount={NAMESPACE}:{SCRAPER}")
    cluster.kubectl("create", "clusterrolebinding", SCRAPER, *account)
    yield cluster.kubectl("create", "token", SCRAPER, "-n", NAMESPACE).strip()
    cluster.kubectl("delete", "clusterrolebinding", SCRAPER)
    cluster.kubectl("delete", "serviceaccount", SCRAPER, "-n", NAMESPACE)


@each_operator
def test_two_replicas_run_on_different_nodes(installation: Installation, operator: ShippedOperator) -> None:
    eventually(lambda: len(installation.ready_pods(operator)) == 2, f"two pods of {operator.name} are ready")
    assert {pod.node for pod in installation.ready_pods(operator)} == {"node-1", "node-2"}


IDENTITY = """
import os
def writes(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return error.strerror
    return "writable"
print(os.getuid(), os.getgid(), writes("/file"), writes("/opt/steward/file"), writes("/tmp/file"), sep="|")
"""


@each_operator
def test_it_runs_as_an_unprivileged_user_on_a_read_only_file_system(
    cluster: ContainerCluster, installation: Installation, operator: ShippedOperator
) -> None:
    pod = installation.ready_pods(operator)[0]
    found = cluster.python(NAMESPACE, pod.name, IDENTITY)
    assert found == "65532|65532|Read-only file system|Read-only file system|writable"


def test_webhooks_behind_their_services_accept_and_reject(shop: Shop) -> None:
    with admission_load(shop.cluster.kubectl.server, shop.namespace) as load:
        eventually(lambda: load.accepted >= 5 and load.rejected >= 5, f"answers ({load.failures})")
    assert load.failures == []


@each_operator
def test_metrics_are_served_to_a_token_that_may_read_them(
    cluster: ContainerCluster, operator: ShippedOperator, scraper: str
) -> None:
    service = cluster.kubectl.json("get", "service", f"{operator.name}-metrics-service", "-n", NAMESPACE)
    url = f"https://{service['spec']['clusterIP']}:8443/metrics"
    assert "controller_runtime_reconcile_total" in scrape(url, scraper)
    assert scrape(url, "") == "401"
    stranger = cluster.kubectl("create", "token", "default", "-n", NAMESPACE).strip()
    assert scrape(url, stranger) == "403"


def scrape(url: str, token: str) -> str:
    """The metrics, or the status code of an error."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), context=context, timeout=30
        ) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        error.close()
        return str(error.code)


@each_operator
def test_network_policies_are_accepted(
    cluster: ContainerCluster, installation: Installation, operator: ShippedOperator
) -> None:
    policy = cluster.kubectl.json("get", "networkpolicy", operator.name, "-n", NAMESPACE)
    assert "Ingress" in policy["spec"]["policyTypes"]


def test_a_killed_leader_is_replaced_and_work_goes_on(installation: Installation, shop: Shop) -> None:
    shop.apply(template("web", deployments=[deployment("web")]))
    shop.add("acme")
    eventually(lambda: shop.is_ready("acme-web"), "the first Tenant is ready", 120)

    killed = installation.kill_leader(TENANTS)
    shop.add("beta")

    eventually(lambda: shop.is_ready("beta-web"), "the second Tenant is ready", 120)
    eventually(lambda: restarted(installation, TENANTS, killed), "the killed container is restarted", 120)
    assert shop.is_ready("acme-web")


def restarted(installation: Installation, operator: ShippedOperator, killed: OperatorPod) -> bool:
    now = next(pod for pod in installation.pods(operator) if pod.name == killed.name)
    return now.is_ready and now.restarts > killed.restarts


def test_the_other_operator_gets_a_leader_after_a_kill_as_well(installation: Installation) -> None:
    killed = installation.kill_leader(MULTIGRES)
    eventually(lambda: restarted(installation, MULTIGRES, killed), "the killed container is restarted", 120)
    eventually(lambda: installation.leader(MULTIGRES), "there is a leader", 60)


@pytest.mark.timeout(900)
def test_work_goes_on_while_a_kubelet_is_stopped_for_two_minutes(
    cluster: ContainerCluster, installation: Installation, shop: Shop
) -> None:
    shop.apply(template("web", deployments=[deployment("web")]))
    leader = eventually(lambda: installation.leader(TENANTS), "a leader", 60)
    with stopped_kubelet(cluster, leader.node):
        ends = time.monotonic() + STOPPED_SECONDS
        eventually(lambda: not node_is_ready(cluster, leader.node), "the node is not ready", 100)
        for number in itertools.count():
            shop.add(f"row{number}")
            eventually(lambda tenant=f"row{number}-web": shop.is_ready(tenant), "a new Tenant is ready", 60)  # type: ignore[misc]
            if time.monotonic() > ends:
                break
    eventually(lambda: node_is_ready(cluster, leader.node), "the node is ready again", 120)
    for operator in OPERATORS:
        eventually(
            lambda each=operator: len(installation.ready_pods(each)) == 2,  # type: ignore[misc]
            f"two pods of {operator.name} are ready again",
            120,
        )


def node_is_ready(cluster: ContainerCluster, name: str) -> bool:
    conditions = cluster.kubectl.json("get", "node", name)["status"]["conditions"]
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@pytest.mark.timeout(900)
def test_an_upgrade_by_helm_interrupts_neither_webhooks_nor_work(
    installation: Installation, shop: Shop
) -> None:
    shop.apply(template("web", deployments=[deployment("web")]))
    before = {pod.name for operator in OPERATORS for pod in installation.pods(operator)}
    with admission_load(shop.cluster.kubectl.server, shop.namespace) as load:
        shop.add("acme")
        annotations = [f"--set={each.short_name}.podAnnotations.upgraded=yes" for each in OPERATORS]
        installation.upgrade(*annotations)
        shop.add("beta")
        eventually(lambda: shop.is_ready("acme-web") and shop.is_ready("beta-web"), "both are ready", 120)
    after = {pod.name for operator in OPERATORS for pod in installation.pods(operator)}
    assert before.isdisjoint(after)
    assert load.failures == []
    assert load.accepted > 10


@each_operator
def test_memory_stayed_below_the_limit_through_all_of_that(
    installation: Installation, operator: ShippedOperator
) -> None:
    """The limit of the chart's installation here is 128 MiB, which the kernel enforces."""
    pods = installation.pods(operator)
    assert [pod.name for pod in pods if pod.last_end == "OOMKilled"] == []
    peaks = {pod.name: pod.control_group.peak_bytes() / MEBIBYTE for pod in pods}
    assert {name: peak for name, peak in peaks.items() if peak >= 128} == {}
