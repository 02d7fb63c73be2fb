"""The log that kwok serves to `kubectl logs` for every container, since none runs: one sentence. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

# In the format of container runtimes, with a time in the far future: `--since` leaves out older lines.
NO_CONTAINER: Final = (
    "9999-12-31T23:59:59Z stdout F No container runs on this cluster, so this pod has logged nothing: kwok simulates "
    "the kubelets. The operators are processes of this machine; their logs are in the directory `processes` of the "
    "cluster's directory.\n"
)


def cluster_logs(file: Path) -> dict[str, Any]:
    """The same log for all containers, current and previous."""
    log = {"logsFile": str(file), "previousLogsFile": str(file)}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "no-container"},
        "spec": {"logs": [log]},
    }
