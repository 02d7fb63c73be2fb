"""Customers in a PostgreSQL table, and templates whose Deployments run the workload image."""

from __future__ import annotations

import base64
import subprocess
from typing import Any

from steward.local.images.recipes import WORKLOAD_IMAGE
from steward.tenants.api.group import API_VERSION
from tests.e2e.support.container_cluster import ContainerCluster
from tests.support.database_servers import DatabaseServer, find_program

Manifest = dict[str, Any]

NO_IMAGE = "localhost:1/no-such-image:1"  # a port of the node where nothing listens
UNPRIVILEGED: Manifest = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
}


class Shop:
    """A registry over a table of its own; rows become Tenants of the templates that a test applies."""

    def __init__(self, cluster: ContainerCluster, namespace: str, database: DatabaseServer) -> None:
        self.cluster, self.namespace, self._database = cluster, namespace, database
        self._table = f"customers_{namespace.replace('-', '_')}"
        self.sql(f"CREATE TABLE {self._table} (id TEXT, url TEXT, active TEXT)")
        self.apply(self._secret(), self._registry())

    def sql(self, statement: str) -> None:
        server = self._database
        psql = find_program("psql")
        assert psql is not None, "psql is not installed: run `make databases`"
        where = ["-h", server.host, "-p", str(server.port), "-U", server.user, "-d", "postgres"]
        subprocess.run(
            [psql, "-q", "-v", "ON_ERROR_STOP=1", *where, "-c", statement],
            check=True,
            env={"PGPASSWORD": server.password, "PATH": "/usr/bin:/bin"},
            timeout=300,
        )

    def add(self, uid: str) -> None:
        self.sql(f"INSERT INTO {self._table} VALUES ('{uid}', 'https://{uid}.example.com', '1')")

    def remove(self, uid: str) -> None:
        self.sql(f"DELETE FROM {self._table} WHERE id = '{uid}'")

    def apply(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            self.cluster.kubectl("apply", "-n", self.namespace, "-f", "-", document=manifest)

    def tenant(self, name: str) -> Manifest:
        """Empty until it exists."""
        found = self.cluster.kubectl.json("get", "tenants", "-n", self.namespace)["items"]
        return next((item for item in found if item["metadata"]["name"] == name), {})

    def condition(self, name: str, type_: str) -> Manifest:
        conditions = self.tenant(name).get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == type_), {"status": "", "reason": ""})

    def is_ready(self, name: str) -> bool:
        return bool(self.condition(name, "Ready")["status"] == "True")

    def why(self, name: str) -> str:
        where = ("-n", self.namespace, "--kubeconfig", str(self.cluster.directory / "kubeconfig"))
        return self.cluster.shell.run("why", f"tenant/{name}", *where).stdout

    def events(self, name: str) -> list[str]:
        """Reason and text of the events of a Tenant."""
        found = self.cluster.kubectl.json("get", "events.events.k8s.io", "-n", self.namespace)["items"]
        return [
            f"{each['reason']}: {each['note']}" for each in found if each["regarding"].get("name") == name
        ]

    def _secret(self) -> Manifest:
        password = base64.b64encode(self._database.password.encode()).decode()
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "db"},
            "data": {"password": password},
        }

    def _registry(self) -> Manifest:
        server = self._database
        source = {
            "host": server.host, "port": server.port, "username": server.user, "database": "postgres",
            "table": self._table, "passwordRef": {"name": "db", "key": "password"}, "tls": {"mode": "disable"},
        }  # fmt: skip
        spec = {
            "source": {"type": "postgres", "syncInterval": "1s", "postgres": source},
            "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
            "deletionGuard": {"allowEmpty": True, "maxPercent": 100},
        }
        return {
            "apiVersion": API_VERSION,
            "kind": "TenantRegistry",
            "metadata": {"name": "shop"},
            "spec": spec,
        }


def template(name: str, **resources: Any) -> Manifest:
    spec = {"registryId": "shop", **resources}
    return {"apiVersion": API_VERSION, "kind": "TenantTemplate", "metadata": {"name": name}, "spec": spec}


def resource(name: str, kind: str, spec: Manifest, **fields: Any) -> Manifest:
    """An object of a template: its id and the end of its name are `name`."""
    group = {"Deployment": "apps/v1", "Job": "batch/v1", "Ingress": "networking.k8s.io/v1"}
    manifest = {"apiVersion": group.get(kind, "v1"), "kind": kind, "spec": spec}
    return {"id": name, "nameTemplate": f"{{{{ .uid }}}}-{name}", "spec": manifest, **fields}


def deployment(name: str, image: str = WORKLOAD_IMAGE, **settings: str) -> Manifest:
    """A Deployment of the workload; `settings` are its environment variables."""
    labels = {"app": f"{{{{ .uid }}}}-{name}"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [_container(image, settings)]}}
    return resource(name, "Deployment", {"selector": {"matchLabels": labels}, "template": pod})


def pod_spec(manifest: Manifest) -> Manifest:
    """The pod of a Deployment or Job, to be changed."""
    found: Manifest = manifest["spec"]["spec"]["template"]["spec"]
    return found


def job(name: str, **settings: str) -> Manifest:
    container = _container(WORKLOAD_IMAGE, {"job": "true", **settings})
    del container["readinessProbe"]
    pod = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    return resource(name, "Job", {"backoffLimit": 0, "template": pod})


def _container(image: str, settings: dict[str, str]) -> Manifest:
    return {
        "name": "app",
        "image": image,
        "env": [{"name": f"WORKLOAD_{name.upper()}", "value": value} for name, value in settings.items()],
        "ports": [{"containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1},
        "securityContext": UNPRIVILEGED,
    }
