"""A cluster with containers, driven as a user drives it: with `steward` and kubectl."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steward.local.containers.programs import find_programs
from steward.local.images.recipes import OPERATOR_IMAGE, WORKLOAD_IMAGE
from steward.local.paths import cache_directory
from steward.local.progress import SilentProgress
from tests.cli.support.shell import Shell
from tests.e2e.support.waiting import eventually
from tests.support.kubectl import Kubectl


class ContainerCluster:
    def __init__(self, directory: Path) -> None:
        self.shell = Shell(directory)

    @property
    def directory(self) -> Path:
        return self.shell.directory

    @property
    def kubectl(self) -> Kubectl:
        return Kubectl(self.directory / "kubeconfig")

    def up(self, *options: str) -> float:
        """Start it, and return the seconds that `steward up` says it took."""
        done = self.shell.run("up", "--containers", "--detach", *options)
        assert done.returncode == 0, done.stderr
        found = re.search(r"is ready at \S+ after ([\d.]+) s", done.stdout)
        assert found is not None, done.stdout
        return float(found[1])

    def down(self, *options: str) -> None:
        done = self.shell.run("down", *options)
        assert done.returncode == 0, done.stderr

    def start_pod(self, namespace: str, name: str, **spec: Any) -> None:
        """A pod with the fields of `spec` that runs the workload unless it has containers."""
        containers = [{"name": "main", "image": WORKLOAD_IMAGE}]
        manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
            "spec": {"containers": containers, "terminationGracePeriodSeconds": 30} | spec,
        }
        self.kubectl("apply", "--server-side", "-f", "-", document=manifest)

    def wait_until_ready(self, namespace: str, name: str) -> dict[str, Any]:
        return eventually(lambda: self._ready(namespace, name), f"pod {name} is ready")

    def _ready(self, namespace: str, name: str) -> dict[str, Any] | None:
        pod: dict[str, Any] = self.kubectl.json("get", "pod", name, "-n", namespace)
        conditions = pod.get("status", {}).get("conditions", [])
        is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        return pod if is_ready and "deletionTimestamp" not in pod["metadata"] else None

    def wait_for_restart(self, namespace: str, name: str) -> None:
        def restarts() -> int:
            statuses = self.kubectl.json("get", "pod", name, "-n", namespace)["status"].get(
                "containerStatuses", []
            )
            return sum(each["restartCount"] for each in statuses)

        eventually(restarts, f"pod {name} restarts")

    def wait_for_service(self, address: str) -> None:
        """Until kube-proxy has rules for the address."""
        eventually(lambda: address in _saved_rules(), f"rules for {address}")

    def expose(self, namespace: str, name: str, port: int, target: int) -> None:
        """A Service for the pods with the label `app: NAME`."""
        spec = {"selector": {"app": name}, "ports": [{"port": port, "targetPort": target}]}
        metadata = {"name": name, "namespace": namespace}
        service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
        self.kubectl("apply", "--server-side", "-f", "-", document=service)

    def python(self, namespace: str, pod: str, script: str) -> str:
        """Run a script in a pod of `python_container`, and return what it prints."""
        return self.kubectl("exec", "-n", namespace, pod, "--", "python3", "-c", script).strip()


def python_container(script: str = "import time; time.sleep(86400)", **fields: Any) -> dict[str, Any]:
    """A container with Python, which is in the operators' image."""
    command = ["python3", "-c", script]
    return {"name": "main", "image": OPERATOR_IMAGE, "imagePullPolicy": "Never", "command": command} | fields


def _saved_rules() -> str:
    programs = asyncio.run(find_programs(cache_directory(), SilentProgress()))
    saved = subprocess.run(
        [programs.iptables / "iptables-save"], capture_output=True, text=True, check=True, timeout=300
    )
    return saved.stdout


@contextmanager
def running_cluster(directory: Path, *options: str) -> Iterator[ContainerCluster]:
    cluster = ContainerCluster(directory)
    try:
        cluster.up(*options)
        yield cluster
    finally:
        cluster.down("--purge")
