"""What `kubectl logs` shows where no container runs: one sentence, told by kwok in place of the kubelets. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

# In the form in which container runtimes write logs; at the end of time, since `--since` leaves out what is older.
NO_CONTAINER: Final = (
    "9999-12-31T23:59:59Z stdout F No container runs on this cluster, so this pod has logged nothing: kwok plays the "
    "kubelets. The operators are processes of this machine; their logs are in `processes` of the cluster's directory.\n"
)


def logs_of_every_pod(file: Path) -> dict[str, Any]:
    """Of every container, the present one and the one before."""
    log = {"logsFile": str(file), "previousLogsFile": str(file)}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "no-container"},
        "spec": {"logs": [log]},
    }
