"""Tenants as the registry controller writes them, with helpers to change and await them."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.group import API_VERSION
from tests.support import namespaces
from tests.support.kubectl import Kubectl
from tests.support.waiting import poll
from tests.tenants.support.operator import running_operator

Manifest = dict[str, Any]

LIMIT_SECONDS = 240.0
TENANT = "tenants.operator.kubernetes-tenants.org"


def eventually(condition: Callable[[], Any], what: str) -> Any:
    """Waits for a condition. The limit is meant for a broken operator, not for a slow machine."""
    if found := poll(condition, LIMIT_SECONDS):
        return found
    pytest.fail(f"waited {LIMIT_SECONDS:.0f} s for {what}")


def resource(resource_id: str, spec: Manifest, **fields: Any) -> Manifest:
    return {"id": resource_id, "spec": spec, **fields}


def config_map(name: str, namespace: str = "", **data: str) -> Manifest:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **where}, "data": data}


def deployment(name: str, replicas: int = 1, image: str = "app:1") -> Manifest:
    labels = {"app": name}
    containers = [{"name": "app", "image": image}, {"name": "side", "image": "side:1"}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def service(name: str, port: int = 80) -> Manifest:
    ports = [{"name": "http", "port": port, "targetPort": 8080}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports},
    }


class Fleet:
    """The Tenants of a test's namespace."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def tenant(self, name: str = "acme", **lists: Any) -> None:
        """Applies a Tenant, rendered as the registry controller would."""
        spec = {"uid": name, "templateRef": "web-app", "templateGeneration": 1, **lists}
        manifest = {
            "apiVersion": API_VERSION,
            "kind": "Tenant",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }
        self.apply(manifest, "registry")

    def apply(self, manifest: Manifest, manager: str = "user") -> None:
        command = ("apply", "--server-side", "--force-conflicts", f"--field-manager={manager}", "-f", "-")
        self.kubectl(*command, "-n", manifest["metadata"].get("namespace", self.namespace), document=manifest)

    def get(self, kind: str, name: str, namespace: str = "") -> Any:
        where = ("-n", namespace or self.namespace)
        found = self.kubectl.json(
            "get", kind, *where, "--field-selector", f"metadata.name={name}", "--show-managed-fields"
        )
        return found["items"][0] if found["items"] else None

    def status(self, name: str = "acme") -> Manifest:
        found = self.get(TENANT, name)
        return (found or {}).get("status") or {}

    def condition(self, type_: str, name: str = "acme") -> Manifest:
        conditions = self.status(name).get("conditions") or []
        return next((each for each in conditions if each["type"] == type_), {})

    def until_ready(self, name: str = "acme") -> Manifest:
        def ready() -> Manifest | None:
            found = self.get(TENANT, name)
            status = found.get("status") or {}
            truth = {each["type"]: each["status"] for each in status.get("conditions") or ()}
            is_current = status.get("observedGeneration") == found["metadata"]["generation"]
            return status if is_current and truth.get("Ready") == "True" else None

        found: Manifest = eventually(ready, f"Tenant {name} to be ready: {self.status(name)}")
        return found

    def until_reason(self, type_: str, reason: str, name: str = "acme") -> Manifest:
        def with_reason() -> Manifest | None:
            condition = self.condition(type_, name)
            return condition if condition.get("reason") == reason else None

        found: Manifest = eventually(with_reason, f"{type_} of Tenant {name} to be {reason}")
        return found

    def until(self, condition: Callable[[], Any], what: str) -> Any:
        return eventually(condition, what)

    def until_deleted(self, kind: str, name: str, namespace: str = "") -> None:
        eventually(lambda: self.get(kind, name, namespace) is None, f"{kind} {name} to be deleted")

    def events(self, reason: str) -> list[Manifest]:
        found = self.kubectl.json(
            "get", "events.events.k8s.io", "-n", self.namespace, "--field-selector", f"reason={reason}"
        )
        items: list[Manifest] = found["items"]
        return items

    def until_event(self, reason: str) -> Manifest:
        found: Manifest = eventually(lambda: self.events(reason), f"event {reason}")[0]
        return found


def namespace_manifest(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def create_namespaces(kubectl: Kubectl, count: int) -> list[str]:
    names = [f"tenants-{secrets.token_hex(4)}-{number}" for number in range(count)]
    items = [namespace_manifest(name) for name in names]
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": items})
    return names


def delete_tenants_and_namespaces(kubectl: Kubectl, names: list[str]) -> None:
    """On an external control plane deletes all Tenants in order, then their namespaces; else only releases these."""
    if not namespaces.external_control_plane():
        for name in names:
            namespaces.release_namespace(kubectl.server, name)
        return

    def tenants() -> list[Any]:
        items = [kubectl.json("get", TENANT, "-n", name)["items"] for name in names]
        return [each for found in items for each in found]

    for name in names:
        kubectl("delete", TENANT, "--all", "-n", name, "--wait=false")
    eventually(lambda: not tenants(), "all Tenants to be deleted")
    kubectl("delete", "namespace", *names, "--wait=false")


@contextmanager
def fleets(plane: ControlPlane, kubectl: Kubectl, log: Path, count: int) -> Iterator[Iterator[Fleet]]:
    """One operator for all tests of a file, each with a namespace of its own: starting an operator takes seconds."""
    names = create_namespaces(kubectl, count)
    with running_operator(plane, ",".join(names), log):
        try:
            yield (Fleet(kubectl, name) for name in names)
        finally:
            # While the operator still runs: it removes the finalizers of the Tenants.
            delete_tenants_and_namespaces(kubectl, names)
