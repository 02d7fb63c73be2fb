"""A MultigresCluster whose servers really run: its state, its address, and what a user changes about it."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from steward.multigres import names
from steward.multigres.api.group import API_VERSION
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.writer import Endpoint

DATABASE, GROUP, SHARD = "postgres", "default", "0-inf"
LIMIT_SECONDS = 300.0
POLL_SECONDS = 1.0
SETTINGS = "settings"
SUPERUSER = "postgres"
LITTLE = {"requests": {"cpu": "10m", "memory": "64Mi"}}


@dataclass(frozen=True)
class DatabaseCluster:
    containers: ContainerCluster
    namespace: str
    name: str = "shop"

    def manifest(self, pools: dict[str, Any], cells: tuple[str, ...] = ("z1", "z2")) -> dict[str, Any]:
        shard = {"name": SHARD, "spec": {"pools": pools}}
        groups = [{"name": GROUP, "default": True, "shards": [shard]}]
        return {
            "apiVersion": API_VERSION,
            "kind": "MultigresCluster",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {
                "cells": [{"name": cell, "zone": cell} for cell in cells],
                "globalTopoServer": {"etcd": {"replicas": 1}},
                "databases": [{"name": DATABASE, "default": True, "tablegroups": groups}],
            },
        }

    def manifest_with_settings(
        self, pools: dict[str, Any], cells: tuple[str, ...] = ("z1", "z2")
    ) -> dict[str, Any]:
        """Servers read the settings that `apply_settings` writes."""
        manifest = self.manifest(pools, cells)
        shard = manifest["spec"]["databases"][0]["tablegroups"][0]["shards"][0]["spec"]
        shard["postgresConfigRef"] = {"name": SETTINGS, "key": "postgresql.conf"}
        return manifest

    def apply_settings(self, text: str) -> None:
        metadata = {"name": SETTINGS, "namespace": self.namespace}
        data = {"postgresql.conf": text}
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        self.containers.kubectl("apply", "-f", "-", document=document)

    def apply(self, manifest: dict[str, Any]) -> None:
        self.containers.kubectl("apply", "-f", "-", document=manifest)

    def delete(self) -> None:
        self.containers.kubectl("delete", "multigrescluster", self.name, "-n", self.namespace, "--wait=true")

    def patch(self, patch: list[dict[str, Any]]) -> None:
        """A JSON patch of the cluster."""
        self.containers.kubectl(
            *("patch", "multigrescluster", self.name, "-n", self.namespace, "--type=json", "-p"),
            json.dumps(patch),
        )

    def status(self) -> dict[str, Any]:
        found = self.containers.kubectl.json("get", "multigrescluster", self.name, "-n", self.namespace)
        return dict(found.get("status", {}))

    def shard(self) -> dict[str, Any]:
        """The Shard; empty until the operator has created it."""
        found = self.containers.kubectl.json("get", "shards", "-n", self.namespace)["items"]
        return dict(found[0]) if found else {"metadata": {"generation": 0}, "status": {}}

    def is_settled(self) -> bool:
        """Whether the latest spec is carried out: Healthy, and no change in progress."""
        found = self.containers.kubectl.json("get", "multigrescluster", self.name, "-n", self.namespace)
        status, shard = found.get("status", {}), self.shard()
        is_observed = status.get("observedGeneration") == found["metadata"]["generation"]
        reported = shard.get("status", {})
        is_current = reported.get("observedGeneration") == shard["metadata"]["generation"]
        conditions = {each["type"]: each for each in reported.get("conditions", [])}
        is_rolling = conditions.get("RollingUpdate", {}).get("status") != "False"
        is_shrinking = "ScaleDownPending" in conditions
        return bool(
            is_observed
            and is_current
            and status.get("phase") == "Healthy"
            and not is_rolling
            and not is_shrinking
        )

    def shard_condition(self, type_: str) -> dict[str, Any]:
        """A condition of the Shard; empty if it has none of this type."""
        conditions = self.shard().get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == type_), {})

    def annotate_shard(self, annotation: str) -> None:
        """As `kubectl annotate` does: `NAME=VALUE` sets one, `NAME-` removes it."""
        self.containers.kubectl(
            "annotate", "shard", self.shard()["metadata"]["name"], "-n", self.namespace, annotation
        )

    def delete_certificates(self) -> None:
        """The authority of the backup service and the certificate that it has issued; the operator makes others."""
        selector = f"multigres.com/cluster={self.name},app.kubernetes.io/component=pgbackrest-tls"
        self.containers.kubectl("delete", "secret", "-n", self.namespace, "-l", selector)

    def primary(self) -> str:
        return str(self.shard().get("status", {}).get("primary", ""))

    def pods(self, component: str = "shard-pool") -> list[dict[str, Any]]:
        selector = f"multigres.com/cluster={self.name},app.kubernetes.io/component={component}"
        found = self.containers.kubectl.json("get", "pods", "-n", self.namespace, "-l", selector)
        return list(found["items"])

    def label_of(self, pod: str, label: str) -> str:
        [found] = [each for each in self.pods() if each["metadata"]["name"] == pod]
        return str(found["metadata"]["labels"][label])

    def secret(self, name: str) -> dict[str, str]:
        found = self.containers.kubectl.json("get", "secret", name, "-n", self.namespace)
        return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}

    def endpoint(self, secret: str = "") -> Endpoint:
        """Of the gateways, with the account of a connection Secret: that of applications, or the one named."""
        values = self.secret(secret or names.connection_secret(self.name))
        service = self.containers.kubectl.json(
            "get", "service", names.cluster_gateway(self.name), "-n", self.namespace
        )
        address = service["spec"]["clusterIP"]
        return Endpoint(address, int(values["port"]), values["user"], values["password"], values["dbname"])

    def steward(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        """A verb of the command line, in the namespace of the cluster."""
        where = ("-n", self.namespace, "--kubeconfig", str(self.containers.directory / "kubeconfig"))
        return self.containers.shell.run(verb, *words, *where)

    def servers(self) -> dict[str, Endpoint]:
        """The Postgres of each pod, for the superuser."""
        password = self.secret(names.password_secret(self.name))["password"]
        return {
            pod["metadata"]["name"]: Endpoint(pod["status"]["podIP"], 5432, SUPERUSER, password, DATABASE)
            for pod in self.pods()
        }

    async def wait_for(self, look: Callable[[], Any], what: str, limit: float = LIMIT_SECONDS) -> float:
        """Seconds until the condition held."""
        began = time.monotonic()
        while time.monotonic() - began < limit:
            if await asyncio.to_thread(look):
                return time.monotonic() - began
            await asyncio.sleep(POLL_SECONDS)
        pytest.fail(f"waited {limit:.0f} s in vain for {what}: {self.status().get('message')}")
