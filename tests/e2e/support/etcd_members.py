"""The members of a managed etcd, asked directly: pods can be reached from this machine."""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import Any

from tests.e2e.support.container_cluster import ContainerCluster

_CLIENT_PORT = 2379
_TIMEOUT_SECONDS = 10


class ManagedEtcd:
    def __init__(self, cluster: ContainerCluster, namespace: str, name: str) -> None:
        self._kubectl, self.namespace, self.name = cluster.kubectl, namespace, name

    def pod(self, number: int) -> dict[str, Any]:
        """Empty while it does not exist."""
        found = self._kubectl.json("get", "pods", "-n", self.namespace)["items"]
        return next((pod for pod in found if pod["metadata"]["name"] == f"{self.name}-{number}"), {})

    def ready(self) -> list[int]:
        return [number for number in range(3) if _is_ready(self.pod(number))]

    def members(self, through: int = 0) -> set[str]:
        answer = self._call(through, "cluster/member/list", {})
        return {member["name"] for member in answer["members"]}

    def write(self, key: str, value: str, through: int = 0) -> None:
        self._call(through, "kv/put", {"key": _encoded(key), "value": _encoded(value)})

    def get(self, key: str, through: int = 0) -> str:
        values = self._call(through, "kv/range", {"key": _encoded(key)}).get("kvs", [])
        return base64.b64decode(values[0]["value"]).decode() if values else ""

    def delete_pod(self, number: int) -> str:
        """The uid of the deleted pod."""
        uid = str(self.pod(number)["metadata"]["uid"])
        self._kubectl("delete", "pod", f"{self.name}-{number}", "-n", self.namespace, "--wait=false")
        return uid

    def delete_volume(self, number: int) -> None:
        """The claim of a member, and then the pod, which holds the claim until it ends."""
        claim = f"data-{self.name}-{number}"
        self._kubectl("delete", "pvc", claim, "-n", self.namespace, "--wait=false")
        self.delete_pod(number)

    def _call(self, number: int, path: str, body: dict[str, Any]) -> Any:
        url = f"http://{self.pod(number)['status']['podIP']}:{_CLIENT_PORT}/v3/{path}"
        request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
            return json.loads(answer.read())


def _is_ready(pod: dict[str, Any]) -> bool:
    if not pod or "deletionTimestamp" in pod["metadata"]:
        return False
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
