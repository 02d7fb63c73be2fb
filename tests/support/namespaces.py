"""The namespaces of tests, and what becomes of them.

A control plane that lives as long as the run is thrown away with all that it holds. There only what runs on its nodes
is ended, which is a handful of requests; to delete a namespace takes it hundreds, more than most tests, and together
they were half of all that the API server did. A control plane that somebody keeps is left as it was found.
"""

import os
import secrets
import time
from pathlib import Path

from tests.support.api_server import ApiServer

KEPT = "STEWARD_TEST_CONTROL_PLANE"
_ACCOUNT_SECONDS = 120.0
_RUNNING = (
    "/apis/apps/v1/{}/deployments",
    "/apis/apps/v1/{}/statefulsets",
    "/apis/apps/v1/{}/daemonsets",
    "/apis/apps/v1/{}/replicasets",
    "/apis/batch/v1/{}/cronjobs",
    "/apis/batch/v1/{}/jobs",
    "/api/v1/{}/pods",
)


def kept_plane() -> Path | None:
    """The directory of the control plane that runs already and stays, where there is one."""
    return Path(os.environ[KEPT]) if os.environ.get(KEPT) else None


def make(server: ApiServer) -> str:
    """A new namespace in which pods can be made."""
    name = f"test-{secrets.token_hex(5)}"
    metadata = {"name": name, "labels": {"steward.local/test": "true"}}
    _succeeds(server, "POST", "/api/v1/namespaces", {"metadata": metadata})
    deadline = time.monotonic() + _ACCOUNT_SECONDS
    # No pod can be made before the namespace has its service account.
    while server.call("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default").status != 200:
        assert time.monotonic() < deadline, f"namespace {name} got no service account"
        time.sleep(0.02)
    return name


def leave(server: ApiServer, name: str) -> None:
    """It goes, or what runs in it does; nobody waits for that."""
    if kept_plane():
        assert server.call("DELETE", f"/api/v1/namespaces/{name}").status < 500
        return
    for path in _RUNNING:
        _succeeds(server, "DELETE", path.format(f"namespaces/{name}"), {"propagationPolicy": "Background"})


def _succeeds(server: ApiServer, method: str, path: str, body: object) -> None:
    answer = server.call(method, path, body)
    assert answer.status < 300, f"{method} {path} answered {answer.status}: {answer.body.decode()}"
