"""What a Tenant costs the API server: one write an object, two statuses, and after a restart nothing at all."""

import asyncio
import json
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import TENANT_FINALIZER
from steward.testkit.audit import AuditLog
from steward.testkit.proxy.faults import Match
from tests.support.kubectl import Kubectl
from tests.tenants.conftest import running_operator
from tests.tenants.support.fleet import LIMIT_SECONDS, TENANT, Fleet, config_map, resource, service

pytestmark = pytest.mark.timeout(1200)
OPERATOR = "tenant-operator"


def made_by_the_registry(namespace: str) -> dict[str, object]:
    """A Tenant with its finalizer, as the registry controller writes it."""
    config_maps = [resource(f"c{number}", config_map(f"c{number}", v="1")) for number in range(3)]
    secret = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "account"}}
    spec = {
        "uid": "acme",
        "templateRef": "web-app",
        "templateGeneration": 1,
        "configMaps": config_maps,
        "serviceAccounts": [resource("account", secret)],
        "services": [resource("web", service("web"), dependIds=["c0", "account"])],
    }
    metadata = {"name": "acme", "namespace": namespace, "finalizers": [TENANT_FINALIZER]}
    return {"apiVersion": API_VERSION, "kind": "Tenant", "metadata": metadata, "spec": spec}


async def test_a_tenant_costs_a_write_an_object_and_two_statuses_and_a_restart_none(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    fleet = Fleet(kubectl, namespace)
    mark = await audit.mark()
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        fleet.apply(made_by_the_registry(namespace), "registry")
        fleet.until_ready()
    every = (await audit.calls_since(mark)).matching(ours(namespace))
    calls = every.writes_of(OPERATOR)
    written = [f"{each.call.resource}/{each.call.subresource}".rstrip("/") for each in calls]
    assert sorted(name for name in written if name != "events") == [
        *["configmaps"] * 3,
        "serviceaccounts",
        "services",
        *["tenants/status"] * 2,
    ]
    looks = every.matching(Match(verb="get", user_agent=OPERATOR))
    assert not {each.call.resource for each in looks} & {
        "tenants",
        "configmaps",
        "serviceaccounts",
        "services",
    }
    mark = await audit.mark()
    log = tmp_path / "second.log"
    with running_operator(control_plane, namespace, log, log_level="debug"):
        await until_looked_at(log)
    assert not (await audit.calls_since(mark)).writes_of(OPERATOR).matching(ours(namespace))
    with running_operator(control_plane, namespace, tmp_path / "third.log"):
        kubectl("delete", TENANT, "acme", "-n", namespace)


def test_debug_logs_tell_which_fields_changed_and_never_their_values(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    log = tmp_path / "debug.log"
    fleet = Fleet(kubectl, namespace)
    with running_operator(control_plane, namespace, log, log_level="debug"):
        fleet.tenant(configMaps=[resource("config", config_map("config", plan="hunter1"))])
        fleet.until_ready()
        fleet.tenant(configMaps=[resource("config", config_map("config", plan="hunter2"))])
        fleet.until_ready()
        kubectl("delete", TENANT, "acme", "-n", namespace)
    told = [json.loads(line) for line in log.read_text().splitlines()]
    changes = [line["changed"] for line in told if line["msg"] == f"applied ConfigMap {namespace}/config"]
    assert [".data.plan"] in changes
    assert "success" in {line["result"] for line in told if line["msg"] == "looked at the Tenant"}
    assert "hunter" not in log.read_text()


def ours(namespace: str) -> Match:
    return Match(namespace=namespace)


async def until_looked_at(log: Path) -> None:
    """The operator has looked at the Tenant; what it has in hand when it is told to stop it brings to its end."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while "looked at the Tenant" not in log.read_text():
            await asyncio.sleep(0.1)
