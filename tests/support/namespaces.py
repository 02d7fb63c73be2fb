"""Creates and releases the namespaces of tests.

A control plane that was started for the run is deleted with everything on it. There a namespace stays as it is, unless
it has pods without a node, which the scheduler tries again and again: only their workloads are deleted. Deleting a
namespace takes hundreds of requests, more than most tests, and accounted for half of all; deleting all workloads of
clusters, so that the fake data plane no longer works for them, for one of twelve. On a control plane that outlives the
run, namespaces are deleted.
"""

import os
import secrets
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.support.api_server import ApiServer

CONTROL_PLANE_VARIABLE = "STEWARD_TEST_CONTROL_PLANE"
_ACCOUNT_SECONDS = 120.0
_WORKLOADS = (
    "/apis/apps/v1/{}/deployments",
    "/apis/apps/v1/{}/statefulsets",
    "/apis/apps/v1/{}/daemonsets",
    "/apis/apps/v1/{}/replicasets",
    "/apis/batch/v1/{}/cronjobs",
    "/apis/batch/v1/{}/jobs",
    "/api/v1/{}/pods",
)
_CLUSTER_LABEL = "multigres.com/cluster"


def external_control_plane() -> Path | None:
    """The directory of a control plane that was started before the run and outlives it, if one is given."""
    return Path(os.environ[CONTROL_PLANE_VARIABLE]) if os.environ.get(CONTROL_PLANE_VARIABLE) else None


def create_namespace(server: ApiServer) -> str:
    """A new namespace in which pods can be created."""
    name = f"test-{secrets.token_hex(5)}"
    metadata = {"name": name, "labels": {"steward.local/test": "true"}}
    _succeeds(server, "POST", "/api/v1/namespaces", {"metadata": metadata})
    deadline = time.monotonic() + _ACCOUNT_SECONDS
    # Pods cannot be created before the namespace has its service account.
    while server.call("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default").status != 200:
        assert time.monotonic() < deadline, f"namespace {name} got no service account"
        time.sleep(0.02)
    return name


def release_namespace(server: ApiServer, name: str) -> None:
    """Delete the namespace, or only its workloads, or nothing; do not wait.

    Operators of the namespace should have ended: they would create its workloads again.
    """
    if external_control_plane():
        assert server.call("DELETE", f"/api/v1/namespaces/{name}").status < 500
        return
    pods = server.call("GET", f"/api/v1/namespaces/{name}/pods").json()["items"]
    waiting = [pod for pod in pods if "nodeName" not in pod["spec"]]
    for path in _WORKLOADS if waiting else ():
        # Without a grace period: kwok would delete each pod in a request of its own.
        options = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
        _succeeds(server, "DELETE", path.format(f"namespaces/{name}") + _selector(waiting), options)


def _selector(pods: list[Any]) -> str:
    """Selects the workloads of the clusters of these pods, or all if one is of no cluster."""
    clusters = {pod["metadata"].get("labels", {}).get(_CLUSTER_LABEL) for pod in pods}
    if None in clusters:
        return ""
    return "?" + urlencode({"labelSelector": f"{_CLUSTER_LABEL} in ({','.join(sorted(clusters))})"})


def _succeeds(server: ApiServer, method: str, path: str, body: object) -> None:
    answer = server.call(method, path, body)
    assert answer.status < 300, f"{method} {path} answered {answer.status}: {answer.body.decode()}"
