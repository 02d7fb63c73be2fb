"""The operators as the chart installs them: their pods, leaders, processes and memory."""

from __future__ import annotations

import os
import signal
from typing import Any, NamedTuple

from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.values import NAMESPACE
from steward.local.images.recipes import OPERATOR_IMAGE
from tests.e2e.support.container_cluster import ContainerCluster
from tests.e2e.support.control_groups import ControlGroup
from tests.e2e.support.user_commands import helm

RELEASE = "steward"
MEMORY = "128Mi"
_IMAGE = f"--set=image.repository={OPERATOR_IMAGE.partition(':')[0]}"
_LIMITS = [f"--set={operator.short_name}.resources.limits.memory={MEMORY}" for operator in OPERATORS]


class OperatorPod(NamedTuple):
    name: str
    node: str
    is_ready: bool
    restarts: int
    container: str  # its id
    last_end: str  # why its container ended the last time

    @property
    def control_group(self) -> ControlGroup:
        return ControlGroup(self.container)


class Installation:
    def __init__(self, cluster: ContainerCluster) -> None:
        self._cluster = cluster

    def install(self) -> None:
        self._helm("upgrade", "--install", "--create-namespace")

    def upgrade(self, *options: str) -> None:
        self._helm("upgrade", *options)

    def _helm(self, verb: str, *options: str) -> None:
        where = (RELEASE, "chart", "--namespace", NAMESPACE, "--wait", "--timeout", "5m")
        helm(self._cluster, verb, *where, _IMAGE, *_LIMITS, *options)

    def uninstall(self) -> None:
        helm(self._cluster, "uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "5m")

    def pods(self, operator: ShippedOperator) -> list[OperatorPod]:
        """The pods that are not terminating."""
        selector = f"app.kubernetes.io/name={operator.name}"
        found = self._cluster.kubectl.json("get", "pods", "-n", NAMESPACE, "-l", selector)["items"]
        return [_pod(item) for item in found if "deletionTimestamp" not in item["metadata"]]

    def ready_pods(self, operator: ShippedOperator) -> list[OperatorPod]:
        return [pod for pod in self.pods(operator) if pod.is_ready]

    def leader(self, operator: ShippedOperator) -> OperatorPod | None:
        lease = self._cluster.kubectl.json("get", "lease", operator.name, "-n", NAMESPACE)
        holder = lease["spec"].get("holderIdentity") or ""
        return next((pod for pod in self.pods(operator) if holder.startswith(pod.name)), None)

    def kill_leader(self, operator: ShippedOperator) -> OperatorPod:
        leader = self.leader(operator)
        assert leader is not None, f"{operator.name} has no leader"
        for process in leader.control_group.processes():
            os.kill(process, signal.SIGKILL)
        return leader


def _pod(item: dict[str, Any]) -> OperatorPod:
    status = next(iter(item["status"].get("containerStatuses", [])), {})
    conditions = {each["type"]: each["status"] for each in item["status"].get("conditions", [])}
    return OperatorPod(
        item["metadata"]["name"],
        item["spec"].get("nodeName", ""),
        conditions.get("Ready") == "True",
        status.get("restartCount", 0),
        status.get("containerID", "").rpartition("/")[2],
        status.get("lastState", {}).get("terminated", {}).get("reason", ""),
    )
