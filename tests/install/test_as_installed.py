"""Runs an installed operator with its service account, the shipped rights, webhooks, a lease and protected metrics.

The API server here has no streaming lists, like many in use: lists are then read page by page, which needs the right to
list. Containers do not run here, so the operator is a process of the test.
"""

import asyncio
import base64
import socket
import ssl
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.values import NAMESPACE
from steward.local.control_plane import ControlPlane
from steward.local.ports import free_ports
from steward.local.service_accounts import kubeconfig
from steward.multigres.webhook_configurations import POLICY
from steward.testkit import Answer, FaultProxy, Match, Rule
from steward.testkit.rbac_coverage import Use
from tests.cli.support.document_commands import log_commands
from tests.install.support.document_shell import READ_SECRET, DocumentShell, page_commands
from tests.install.support.steward import Steward, wait_until_uninstalled
from tests.multigres.support.tree import build_tree
from tests.support.kubectl import Kubectl
from tests.support.operator_process import (
    OperatorProcess,
    run_operator_process,
    run_operator_process_async,
)
from tests.support.rbac_comparison import granted, record_expected_denial, record_used_permission
from tests.tenants.support.customers import until

TIMEOUT_SECONDS = 240.0
SCRAPER = "scraper"
RUNBOOK_COMMANDS = {MULTIGRES: page_commands(READ_SECRET)}
"""Commands of the webhook runbook, by operator."""


@pytest.fixture(scope="module")
def installed(own_plane: ControlPlane, own_kubectl: Kubectl) -> Iterator[Kubectl]:
    """Both operators are installed, and a service account may read metrics."""
    steward = Steward(own_plane)
    steward("install", "--apply")
    own_kubectl("create", "serviceaccount", SCRAPER, "-n", NAMESPACE)
    role = ("--clusterrole=steward-metrics-reader", f"--serviceaccount={NAMESPACE}:{SCRAPER}")
    own_kubectl("create", "clusterrolebinding", SCRAPER, *role)
    yield own_kubectl
    own_kubectl("delete", "clusterrolebinding", SCRAPER)
    steward("uninstall", "--yes")
    wait_until_uninstalled(own_kubectl)


@pytest.fixture
def document_shell(own_plane: ControlPlane, tmp_path: Path) -> DocumentShell:
    return DocumentShell(tmp_path / "shell", own_plane)


@pytest.fixture
async def old_server(own_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(own_plane.kubeconfig) as proxy:
        yield proxy


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
async def test_an_installed_operator_needs_no_right_beyond_the_shipped_ones(
    operator: ShippedOperator,
    installed: Kubectl,
    old_server: FaultProxy,
    document_shell: DocumentShell,
    tmp_path: Path,
) -> None:
    grants = [grant for grant in granted(operator) if grant.role == operator.name]
    listed = {grant.resource for grant in grants if grant.verb == "list"}
    watched = {grant.resource for grant in grants if grant.verb == "watch"}
    for resource in watched:
        old_server.add(Rule(Match(verb="watch", resource=resource), Answer(400), count=1))
    config = old_server.write_kubeconfig(tmp_path / "kubeconfig", _token(installed, operator.name))
    port, webhooks = free_ports(2)
    settings = {
        "namespace": NAMESPACE,
        "leader_elect": "true",
        "webhooks": "on",
        "webhook_bind_address": f"127.0.0.1:{webhooks}",
        "metrics_bind_address": f"127.0.0.1:{port}",
    }

    async with run_operator_process_async(
        OperatorProcess(operator.short_name, config, "", tmp_path / "log"), **settings
    ):
        await _wait_until(lambda: _lists(old_server) >= listed & watched, "every list to be read by pages")
        await _wait_until(lambda: _leader(installed, operator), "the operator to lead")
        assert _owner_of_lease(installed, operator) == f"Deployment {operator.name}"
        await _wait_until(
            lambda: _trusts(installed, operator, webhooks), "the API server to trust the webhooks"
        )
        assert await asyncio.to_thread(_scraped, port, _token(installed, SCRAPER)) == 200
        assert await asyncio.to_thread(_scraped, port, _token(installed, operator.name)) == 403
        for command in RUNBOOK_COMMANDS.get(operator, ()):
            await asyncio.to_thread(document_shell.run, command)
    for _, search in log_commands():
        if "webhook" in search:
            document_shell.run(f"{search} {tmp_path / 'log'}")


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_without_the_rights_to_register_webhooks_an_operator_runs_without_them(
    operator: ShippedOperator,
    installed: Kubectl,
    own_plane: ControlPlane,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    denied = Use("patch", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", POLICY)
    record_expected_denial(record_property, denied)
    config, log = tmp_path / "kubeconfig", tmp_path / "log"
    config.write_text(kubeconfig(own_plane, operator, _token(installed, operator.name)))
    [port] = free_ports(1)
    settings = {
        "namespace": NAMESPACE,
        "webhook_url": "https://127.0.0.1:0",
        "webhook_bind_address": "127.0.0.1:0",
        "webhook_cert_path": str(tmp_path / "certificate"),
        "health_probe_bind_address": f"127.0.0.1:{port}",
    }

    with run_operator_process(OperatorProcess(operator.short_name, config, "", log), **settings):
        until(lambda: _is_ready(port), log.read_text)
        until(lambda: "the webhooks are not registered" in log.read_text(), log.read_text)

    [line] = [line for line in log.read_text().splitlines() if "not registered" in line]
    # The tenants operator has no policies, and a right on the configurations of the installation.
    cures = {
        MULTIGRES: "grant the user get, create, patch and delete on webhook configurations",
        TENANTS: "an installation in the cluster has registered its own",
    }
    assert cures[operator] in line
    assert "trying again" not in log.read_text()


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@pytest.mark.parametrize(("show", "search"), log_commands())
def test_the_logs_of_all_replicas_are_shown(
    installed: Kubectl, document_shell: DocumentShell, show: str, search: str
) -> None:
    # Containers do not run here, and the log says so. Tests of the operators check the lines that `search` finds.
    both = "--for=jsonpath={.status.readyReplicas}=2"
    installed("wait", "deployments", "--all", "-n", NAMESPACE, both, "--timeout=240s")
    lines = document_shell.run(show).splitlines()

    assert search.startswith("grep ")
    assert len(lines) == 2
    assert "No container runs" in lines[0]


def _blocking_owners() -> dict[str, dict[str, str]]:
    """Owner references with blockOwnerDeletion, by kind of the owner."""
    references = [one for made in build_tree() for one in made["metadata"].get("ownerReferences", ())]
    return {one["kind"]: one for one in references if one.get("blockOwnerDeletion")}


async def test_creating_a_blocking_child_needs_a_right_on_the_owner(
    installed: Kubectl, record_property: Callable[[str, object], None]
) -> None:
    finalizers = {grant.resource: grant for grant in granted(MULTIGRES) if grant.verb == "update"}
    installed("create", "role", SCRAPER, "--verb=create", "--resource=configmaps", "-n", NAMESPACE)
    subject = f"--serviceaccount={NAMESPACE}:{SCRAPER}"
    installed("create", "rolebinding", SCRAPER, f"--role={SCRAPER}", subject, "-n", NAMESPACE)

    for kind, reference in _blocking_owners().items():
        # Wait: the admission check of owners learns of a new kind up to 30 seconds later than the rest of the server.
        may_create = partial(_may_create_child, installed, MULTIGRES.name, reference)
        await _wait_until(may_create, f"a child of a {kind} to be allowed")
        assert not _may_create_child(installed, SCRAPER, reference), kind
        grant = finalizers.pop(f"{kind.lower()}s/finalizers")
        record_used_permission(record_property, Use(grant.verb, grant.group, grant.resource))
    assert set(finalizers) == {"leases"}


def _may_create_child(kubectl: Kubectl, account: str, reference: dict[str, str]) -> bool:
    child = {"metadata": {"name": "child", "ownerReferences": [reference]}}
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps?dryRun=All"
    user = {"Impersonate-User": f"system:serviceaccount:{NAMESPACE}:{account}"}
    answer = kubectl.server.call("POST", path, child, **user)
    assert answer.status == 201 or "blockOwnerDeletion" in answer.body.decode()
    return answer.status == 201


async def _wait_until(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await asyncio.to_thread(condition):
                await asyncio.sleep(0.1)
    except TimeoutError:
        pytest.fail(f"waited {TIMEOUT_SECONDS:.0f} s for {what}")


def _lists(proxy: FaultProxy) -> set[str]:
    return {seen.call.resource for seen in proxy.calls(Match(verb="list"))}


def _leader(kubectl: Kubectl, operator: ShippedOperator) -> bool:
    leases = kubectl.json("get", "leases", "-n", NAMESPACE)["items"]
    return any(
        lease["metadata"]["name"] == operator.name and lease["spec"].get("holderIdentity") for lease in leases
    )


def _owner_of_lease(kubectl: Kubectl, operator: ShippedOperator) -> str:
    """The owner with which the lease is deleted on uninstall."""
    lease = kubectl.json("get", "lease", operator.name, "-n", NAMESPACE)
    (owner,) = lease["metadata"]["ownerReferences"]
    deployment = kubectl.json("get", "deployment", owner["name"], "-n", NAMESPACE)
    assert deployment["metadata"]["uid"] == owner["uid"]
    return f"{owner['kind']} {owner['name']}"


def _trusts(kubectl: Kubectl, operator: ShippedOperator, port: int) -> bool:
    """Whether the CA bundles of both configurations verify the webhook server, as the API server does."""
    found = [
        configuration
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
        for configuration in kubectl.json("get", kind)["items"]
        if configuration["metadata"]["name"].startswith(operator.name)
    ]
    clients = [webhook["clientConfig"] for configuration in found for webhook in configuration["webhooks"]]
    return len(found) == 2 and all(_is_verified(client, port) for client in clients)


def _is_verified(client: dict[str, Any], port: int) -> bool:
    bundle = base64.b64decode(client.get("caBundle", "")).decode()
    if not bundle:
        return False
    name = f"{client['service']['name']}.{client['service']['namespace']}.svc"
    context = ssl.create_default_context(cadata=bundle)
    try:
        with socket.create_connection(("127.0.0.1", port), 60) as raw:
            context.wrap_socket(raw, server_hostname=name).close()
    except OSError:
        return False
    return True


def _token(kubectl: Kubectl, account: str) -> str:
    return kubectl("create", "token", account, "-n", NAMESPACE).strip()


def _scraped(port: int, token: str) -> int:
    # The operator uses a self-signed certificate.
    connection = HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context(), timeout=60)
    try:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    finally:
        connection.close()
