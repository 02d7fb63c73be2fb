"""A table of customers in an SQLite file, and a namespace in which an operator turns it into Tenants."""

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.kubectl import Kubectl
from tests.support.waiting import poll
from tests.tenants.support.manifests import Manifest, registry, resource, template

LIMIT_SECONDS = 120.0
FILE = "customers.db"


class Customers:
    """The table; its columns are id, url, active and plan."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        self.run("CREATE TABLE customers (id TEXT, url TEXT, active TEXT, plan TEXT)")

    def run(self, statement: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(statement, values)

    def add(self, *uids: str, active: str = "1", plan: Any = "basic") -> None:
        for uid in uids:
            self.run(
                "INSERT INTO customers VALUES (?, ?, ?, ?)", uid, f"https://{uid}.example.com", active, plan
            )

    def remove(self, *uids: str) -> None:
        for uid in uids:
            self.run("DELETE FROM customers WHERE id = ?", uid)


def until(condition: Callable[[], Any], describe: Callable[[], Any] = lambda: "") -> Any:
    """Waits for a true value and returns it; `describe` gives the state for the message of a timeout."""
    found = poll(condition, LIMIT_SECONDS)
    assert found, f"waited for {LIMIT_SECONDS:.0f} s; last state: {describe()}"
    return found


class World:
    """A namespace as a user sees it."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl = kubectl
        self.namespace = namespace

    def apply(self, *manifests: Manifest, manager: str = "") -> None:
        """With client-side apply, or server-side as a manager of this name."""
        how = ("--server-side", f"--field-manager={manager}") if manager else ()
        self._kubectl("apply", *how, "-n", self.namespace, "-f", "-", document=_list(manifests))

    def kubectl(self, *args: str) -> str:
        return self._kubectl(args[0], "-n", self.namespace, *args[1:])

    def get(self, kind: str, name: str) -> Any:
        """The object, or None."""
        found = self._kubectl.json(
            "get", kind, "-n", self.namespace, f"--field-selector=metadata.name={name}"
        )
        return found["items"][0] if found["items"] else None

    def all(self, kind: str) -> list[Any]:
        return list(self._kubectl.json("get", kind, "-n", self.namespace)["items"])

    def tenants(self) -> dict[str, Any]:
        found = self._kubectl.json("get", "tenants", "-n", self.namespace)
        return {item["metadata"]["name"]: item for item in found["items"]}

    def active_tenants(self) -> set[str]:
        """Names of the Tenants that are not terminating."""
        return {name for name, item in self.tenants().items() if "deletionTimestamp" not in item["metadata"]}

    def until_tenants(self, *names: str) -> None:
        until(lambda: self.active_tenants() == set(names), self.tenants)

    def status(self, kind: str = "tenantregistry", name: str = "prod") -> dict[str, Any]:
        found = self.get(kind, name)
        return {} if found is None else found.get("status", {})

    def condition(self, type_: str, kind: str = "tenantregistry", name: str = "prod") -> dict[str, Any]:
        conditions = self.status(kind, name).get("conditions", [])
        return next(
            (each for each in conditions if each["type"] == type_),
            {"status": "", "reason": "", "message": ""},
        )

    def until_condition(self, type_: str, status: str, **where: str) -> dict[str, Any]:
        def holds() -> Any:
            found = self.condition(type_, **where)
            return found if found["status"] == status else None

        return until(holds, lambda: self.status(**where))

    def events(self, reason: str) -> list[str]:
        found = self._kubectl.json("get", "events.events.k8s.io", "-n", self.namespace)
        return [item["note"] for item in found["items"] if item["reason"] == reason]

    def approve(self, kind: str, name: str, value: str) -> None:
        self.kubectl("annotate", kind, name, f"kubernetes-tenants.org/approve-deletion={value}")


def _list(manifests: Iterable[Manifest]) -> Manifest:
    return {"apiVersion": "v1", "kind": "List", "items": list(manifests)}


def sqlite_registry(name: str = "prod", **spec: Any) -> Manifest:
    whole = {
        "source": {"type": "sqlite", "syncInterval": "1s", "sqlite": {"file": FILE, "table": "customers"}},
        "extraValueMappings": {"plan": "plan"},
        **spec,
    }
    return registry(name, **whole)


def config_template(name: str = "web-app", **spec: Any) -> Manifest:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "{{ .host }}", "plan": "{{ .plan }}"}}
    return template(name, **{"configMaps": [resource(spec=body, nameTemplate="{{ .uid }}-" + name)], **spec})
