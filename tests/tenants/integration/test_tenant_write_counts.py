"""The writes of a Tenant: one for each object, one status, and none after a restart."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.group import API_VERSION
from steward.tenants.labels import TENANT_FINALIZER
from steward.testkit.audit import AuditLog
from steward.testkit.proxy.faults import Match
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import (
    LIMIT_SECONDS,
    TENANT,
    Fleet,
    config_map,
    namespace_manifest,
    resource,
    service,
)
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)
OPERATOR = "tenant-operator"
OTHER_PORT = json.dumps([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}])


def rendered_tenant(namespace: str, uid: str = "acme", prefix: str = "") -> dict[str, object]:
    """A Tenant with its finalizer, as the registry controller writes it."""
    names = [f"{prefix}c{number}" for number in range(3)]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": f"{prefix}account"}}
    spec = {
        "uid": uid,
        "templateRef": "web-app",
        "templateGeneration": 1,
        "configMaps": [resource(name, config_map(name, v="1")) for name in names],
        "serviceAccounts": [resource("account", account)],
        "services": [resource("web", service(f"{prefix}web"), dependIds=[names[0], "account"])],
    }
    metadata = {"name": uid, "namespace": namespace, "finalizers": [TENANT_FINALIZER]}
    return {"apiVersion": API_VERSION, "kind": "Tenant", "metadata": metadata, "spec": spec}


async def test_a_tenant_costs_one_write_per_object_one_status_and_none_after_a_restart(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    fleet = Fleet(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        # The caches of a kind fill when its first object is applied; what they do not hold yet is read.
        fleet.apply(rendered_tenant(namespace, "early", "early-"), "registry")
        fleet.until_ready("early")
        mark = await audit.mark()
        fleet.apply(rendered_tenant(namespace), "registry")
        fleet.until_ready()
    every = (await audit.calls_since(mark)).matching(in_namespace(namespace))
    calls = every.writes_of(OPERATOR)
    written = [f"{each.call.resource}/{each.call.subresource}".rstrip("/") for each in calls]
    assert sorted(name for name in written if name != "events") == [
        *["configmaps"] * 3,
        "serviceaccounts",
        "services",
        "tenants/status",
    ]
    reads = every.matching(Match(verb="get", user_agent=OPERATOR))
    assert not {each.call.resource for each in reads} & {
        "tenants",
        "configmaps",
        "serviceaccounts",
        "services",
    }
    mark = await audit.mark()
    log = tmp_path / "second.log"
    with running_operator(control_plane, namespace, log, log_level="debug"):
        await until_reconciled(log)
    assert not (await audit.calls_since(mark)).writes_of(OPERATOR).matching(in_namespace(namespace))
    with running_operator(control_plane, namespace, tmp_path / "third.log"):
        kubectl("delete", TENANT, "acme", "early", "-n", namespace)


async def test_drift_is_put_back_without_a_rejected_request_and_leaves_nothing_to_write_after_a_restart(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    fleet = Fleet(kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "first.log"):
        fleet.apply(rendered_tenant(namespace), "registry")
        before = fleet.until_ready()
        mark = await audit.mark()
        kubectl("delete", "configmap", "c0", "-n", namespace)
        fleet.apply(config_map("c1", v="2"), "them")
        kubectl("patch", "service", "web", "-n", namespace, "--type=json", "-p", OTHER_PORT)
        fleet.until(lambda: fleet.get("configmap", "c0"), "the deleted ConfigMap")
        fleet.until(lambda: fleet.get("configmap", "c1")["data"] == {"v": "1"}, "the changed ConfigMap")
        fleet.until(lambda: fleet.get("service", "web")["spec"]["ports"][0]["port"] == 80, "the port")
        fleet.until(lambda: field_managers(fleet.get("service", "web")) == {OPERATOR}, "one manager")
    calls = (await audit.calls_since(mark)).writes_of(OPERATOR).matching(in_namespace(namespace))
    repairs = [each for each in calls if each.call.resource != "events"]
    assert sorted((each.call.resource, each.call.name) for each in repairs) == [
        ("configmaps", "c0"),
        ("configmaps", "c1"),
        *[("services", "web")] * 3,
    ]
    assert fleet.status() == before
    mark = await audit.mark()
    log = tmp_path / "second.log"
    with running_operator(control_plane, namespace, log, log_level="debug"):
        await until_reconciled(log)
    assert not (await audit.calls_since(mark)).writes_of(OPERATOR).matching(in_namespace(namespace))
    with running_operator(control_plane, namespace, tmp_path / "third.log"):
        kubectl("delete", TENANT, "acme", "-n", namespace)


async def test_an_edited_port_is_restored_by_one_request_and_owned_again_by_two_more(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """The patch that restores the port needs a field manager of its own, whose entry is removed at the end."""
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    fleet = Fleet(kubectl, namespace)
    edit = json.dumps({"spec": {"ports": [{"name": "http", "port": 8080}]}})
    with running_operator(control_plane, namespace, tmp_path / "operator.log"):
        ports = [{"name": "http", "port": 80}]
        fleet.tenant(services=[resource("web", {**service("web"), "spec": {"ports": ports}})])
        status = fleet.until_ready()
        live = fleet.get("service", "web")["spec"]["ports"]
        mark = await audit.mark()
        kubectl("patch", "service", "web", "-n", namespace, "--type=merge", "-p", edit)
        fleet.until(lambda: fleet.get("service", "web")["spec"]["ports"] == live, "the edited port")
        fleet.until(lambda: field_managers(fleet.get("service", "web")) == {OPERATOR}, "one manager")
        fleet.until_event("DriftReverted")
        calls = (await audit.calls_since(mark)).matching(in_namespace(namespace))
        assert fleet.status() == status
        kubectl("delete", TENANT, "acme", "-n", namespace)
    ours = calls.matching(Match(user_agent=OPERATOR))
    writes = [each for each in ours.writes() if each.call.resource != "events"]
    assert [(each.call.resource, each.code) for each in writes] == [("services", 200)] * 3
    assert not ours.matching(Match(verb="get", resource="services"))


async def test_a_tenant_with_a_namespace_of_its_own_costs_one_write_per_object_and_no_read(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    """Without dependIds: the Namespace is applied first, and its labels open it to the other objects."""
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    fleet, own = Fleet(kubectl, namespace), f"{namespace}-acme"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app", "namespace": own}}
    with running_operator(control_plane, namespace, tmp_path / "operator.log"):
        # The caches of a kind fill when its first object is applied; what they do not hold yet is read.
        fleet.apply(rendered_tenant(namespace, "early", "early-"), "registry")
        fleet.until_ready("early")
        mark = await audit.mark()
        fleet.tenant(
            configMaps=[resource("config", config_map("config", own))],
            serviceAccounts=[resource("account", account)],
            namespaces=[resource("space", namespace_manifest(own))],
        )
        status = fleet.until_ready()
        calls = await audit.calls_since(mark)
        kubectl("delete", TENANT, "acme", "-n", namespace)
    assert status["readyResources"] == 3
    written = [
        each.call for each in calls.writes_of(OPERATOR) if own in (each.call.namespace, each.call.name)
    ]
    assert sorted(call.resource for call in written) == ["configmaps", "namespaces", "serviceaccounts"]
    read = [each.call for each in calls.matching(Match(verb="get", user_agent=OPERATOR))]
    assert [call for call in read if own in (call.namespace, call.name)] == []


def test_debug_logs_have_the_changed_fields_and_never_their_values(
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
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    changes = [line["changed"] for line in lines if line["msg"] == f"applied ConfigMap {namespace}/config"]
    assert [".data.plan"] in changes
    assert "success" in {line["result"] for line in lines if line["msg"] == "reconciled the Tenant"}
    assert "hunter" not in log.read_text()


def field_managers(live: dict[str, Any]) -> set[str]:
    return {entry["manager"] for entry in live["metadata"]["managedFields"]}


def in_namespace(namespace: str) -> Match:
    return Match(namespace=namespace)


async def until_reconciled(log: Path) -> None:
    """Until the operator has reconciled the Tenant; a reconcile that is running when it stops is completed."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while "reconciled the Tenant" not in log.read_text():
            await asyncio.sleep(0.1)
