"""A namespace `shop` beside the sample, with the objects and the files that the documents speak of."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward.local.settings import Layout
from tests.cli.support.document_commands import BEFORE, CODES, filled_in
from tests.support.programs import program

MULTIGRES, TENANTS = "multigres.com/v1alpha1", "operator.kubernetes-tenants.org/v1"
ONE_ETCD = {"etcd": {"replicas": 1}}


def thing(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def cluster(name: str, **more: Any) -> dict[str, Any]:
    templates = {"templateDefaults": {"shardTemplate": "standard"}}
    spec = {"cells": [{"zone": "z1"}], "globalTopoServer": ONE_ETCD} | templates | more
    return thing(MULTIGRES, "MultigresCluster", name, spec)


POOL = {"type": "readWrite", "replicasPerCell": 1, "storage": {"size": "1Gi"}}
STANDARD = thing(
    MULTIGRES, "ShardTemplate", "standard", {"multiorch": {"replicas": 1}, "pools": {"main": POOL}}
)
CHANGED = thing(
    MULTIGRES, "ShardTemplate", "standard", {"multiorch": {"replicas": 2}, "pools": {"main": POOL}}
)
PROD = thing(
    TENANTS,
    "TenantRegistry",
    "prod",
    {
        "source": {
            "type": "sqlite",
            "syncInterval": "3s",
            "sqlite": {"file": "prod.db", "table": "customers"},
        },
        "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
    },
)
PAGE = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "{{ .host }}"}}
WEB_APP = thing(
    TENANTS,
    "TenantTemplate",
    "web-app",
    {
        "registryId": "prod",
        "configMaps": [{"id": "page", "nameTemplate": "{{ .uid }}-page", "spec": PAGE}],
    },
)
CLAIM = thing(
    "v1",
    "PersistentVolumeClaim",
    "pgdata-shop-spare-2",
    {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
FILES: dict[str, list[dict[str, Any]]] = {
    "shop.yaml": [cluster("shop")],
    "templates.yaml": [STANDARD],
    "template.yaml": [CHANGED],
    "demo.yaml": [cluster("demo", updatePolicy={"templateChanges": "Manual"})],
    "tenants.yaml": [PROD, WEB_APP],
    "claim.yaml": [CLAIM],
    "my-manifests/shop.yaml": [cluster("shop"), STANDARD],
}
CUSTOMERS = ("nova", "atlas", "birch", "cedar")


@dataclass(frozen=True)
class Shop:
    """A user who works in the namespace, in a directory with the files."""

    directory: Path
    plane: Path

    @property
    def rows(self) -> Path:
        return Layout(self.plane).sample / "prod.db"

    @property
    def environment(self) -> dict[str, str]:
        programs = f"{self.directory / 'bin'}:{Path(sys.executable).parent}"
        return os.environ | {
            "KUBECONFIG": str(self.directory / "kubeconfig"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ROWS": str(self.rows),
            "STEWARD_SQLITE_ROOT": str(self.rows.parent),
            "HOME": str(self.directory),
        }

    def open(self) -> None:
        """Everything is there, and begins to grow."""
        self._write()
        with closing(sqlite3.connect(self.rows)) as table, table:
            table.execute("CREATE TABLE customers (id TEXT PRIMARY KEY, url TEXT, active INTEGER)")
            rows = [(name, f"https://{name}.example.com", 1) for name in CUSTOMERS]
            table.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)
        self.must("kubectl create namespace shop")
        self.must("kubectl config set-context --current --namespace=shop")
        for name in ("templates.yaml", "shop.yaml", "demo.yaml", "tenants.yaml"):
            self.must(f"kubectl apply --server-side -f {name}")

    def wait_until_grown(self) -> None:
        self.must("kubectl wait mgc/shop mgc/demo --for=condition=Ready --timeout=600s")
        self.must("kubectl wait tenant/nova-web-app --for=create --timeout=300s")
        self.must("kubectl wait tenant/nova-web-app --for=condition=Ready --timeout=300s")

    def _write(self) -> None:
        (self.directory / "bin").mkdir(parents=True)
        (self.directory / "bin" / "kubectl").symlink_to(program("kubectl"))
        (self.directory / "kubeconfig").write_bytes(Layout(self.plane).kubeconfig.read_bytes())
        for name, documents in FILES.items():
            path = self.directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n---\n".join(map(json.dumps, documents)))

    def paste(self, command: str) -> None:
        """As a reader would, who has put names for the placeholders and says yes when asked."""
        for preparation in BEFORE.get(command, ()):
            self.must(preparation)
        done = self._run(filled_in(command))
        told = f"{command}\n{done.stdout}{done.stderr}"
        assert done.returncode == CODES.get(command, 0), told
        assert "No resources found" not in done.stderr, told

    def must(self, command: str) -> None:
        done = self._run(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def _run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=self.environment,
            cwd=self.directory,
            input="y\n",
            capture_output=True,
            text=True,
            check=False,
        )
