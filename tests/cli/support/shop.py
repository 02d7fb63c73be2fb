"""A namespace `shop` with the objects and files that the documents use, on the cluster of the sample."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steward.local.settings import Layout
from tests.cli.support.document_commands import EXIT_CODES, PREPARATIONS, fill_placeholders, only_reads
from tests.support.programs import built_program

MULTIGRES, TENANTS = "multigres.com/v1alpha1", "operator.kubernetes-tenants.org/v1"
ONE_ETCD = {"etcd": {"replicas": 1}}


def manifest(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def cluster(name: str, **more: Any) -> dict[str, Any]:
    templates = {"templateDefaults": {"shardTemplate": "standard"}}
    spec = {"cells": [{"zone": "z1"}], "globalTopoServer": ONE_ETCD} | templates | more
    return manifest(MULTIGRES, "MultigresCluster", name, spec)


POOL = {"type": "readWrite", "replicasPerCell": 2, "storage": {"size": "1Gi"}}
STANDARD = manifest(
    MULTIGRES, "ShardTemplate", "standard", {"multiorch": {"replicas": 1}, "pools": {"main": POOL}}
)
CHANGED = manifest(
    MULTIGRES, "ShardTemplate", "standard", {"multiorch": {"replicas": 2}, "pools": {"main": POOL}}
)
PROD = manifest(
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
WEB_APP = manifest(
    TENANTS,
    "TenantTemplate",
    "web-app",
    {
        "registryId": "prod",
        "configMaps": [{"id": "page", "nameTemplate": "{{ .uid }}-page", "spec": PAGE}],
    },
)
CLAIM = manifest(
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
    """Runs commands in the namespace, in a directory with the files."""

    directory: Path
    plane: Path
    seen: set[str] = field(default_factory=set)
    """Commands of documents that have succeeded."""

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

    def create(self) -> None:
        """Creates the table and applies the objects."""
        self._write()
        with closing(sqlite3.connect(self.rows)) as table, table:
            table.execute("CREATE TABLE customers (id TEXT PRIMARY KEY, url TEXT, active INTEGER)")
            rows = [(name, f"https://{name}.example.com", 1) for name in CUSTOMERS]
            table.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)
        self.run("kubectl create namespace shop")
        self.run("kubectl config set-context --current --namespace=shop")
        for name in ("templates.yaml", "shop.yaml", "demo.yaml", "tenants.yaml"):
            self.run(f"kubectl apply --server-side -f {name}")

    def wait_until_ready(self) -> None:
        self.run("kubectl wait mgc/shop mgc/demo --for=condition=Ready --timeout=600s")
        self.run("kubectl wait tenant/nova-web-app --for=create --timeout=300s")
        self.run("kubectl wait tenant/nova-web-app --for=condition=Ready --timeout=300s")

    def _write(self) -> None:
        (self.directory / "bin").mkdir(parents=True)
        (self.directory / "bin" / "kubectl").symlink_to(built_program("kubectl"))
        (self.directory / "kubeconfig").write_bytes(Layout(self.plane).kubeconfig.read_bytes())
        for name, documents in FILES.items():
            path = self.directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n---\n".join(map(json.dumps, documents)))

    def run_document_command(self, command: str) -> None:
        """Runs a command of a document, with placeholders filled in and prompts confirmed."""
        if only_reads(command) and command in self.seen:
            return
        for preparation in PREPARATIONS.get(command, ()):
            self.run(preparation)
        done = self._execute(fill_placeholders(command))
        output = f"{command}\n{done.stdout}{done.stderr}"
        assert done.returncode == EXIT_CODES.get(command, 0), output
        assert "No resources found" not in done.stderr, output
        self.seen.add(command)

    def run(self, command: str) -> None:
        done = self._execute(command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def _execute(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=self.environment,
            cwd=self.directory,
            input="y\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
