"""PodMonitors of the data plane, for the Prometheus operator."""

import re
from collections.abc import Sequence

from steward.install.operators import MULTIGRES
from steward.install.values import Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest
from steward.multigres.objects import gateway, pool
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    DATABASE_LABEL,
    FIELD_MANAGER,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
)
from steward.multigres.objects.pool_containers import METRICS, POOLER_METRICS


def pod_monitors(values: Values) -> list[Manifest]:
    """For the data plane: the Postgres exporters and poolers, and the gateways, of all clusters."""
    return [
        _pod_monitor("multigres-postgres", pool.COMPONENT, (METRICS.name, POOLER_METRICS.name), values),
        _pod_monitor("multigres-gateways", gateway.COMPONENT, (gateway.METRICS.name,), values),
    ]


def _pod_monitor(name: str, component: str, ports: Sequence[str], values: Values) -> Manifest:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": {**metadata(MULTIGRES, values), "name": name},
        "spec": {
            "selector": {"matchLabels": {MANAGED_BY_LABEL: FIELD_MANAGER, COMPONENT_LABEL: component}},
            # Clusters are in any namespace; the Prometheus operator decides which ones its Prometheus may read.
            "namespaceSelector": {"any": True},
            "podMetricsEndpoints": [
                {"port": port, "path": "/metrics", "interval": "30s", "relabelings": _location_labels()}
                for port in ports
            ],
        },
    }


def _location_labels() -> list[Manifest]:
    """The labels that alerts and dashboards use. The name of the Shard object is not a label of its pods."""
    labels = {
        "cluster": CLUSTER_LABEL,
        "database": DATABASE_LABEL,
        "tablegroup": TABLE_GROUP_LABEL,
        "shard": SHARD_LABEL,
        "cell": CELL_LABEL,
        "pool": POOL_LABEL,
    }
    return [
        {
            "sourceLabels": [f"__meta_kubernetes_pod_label_{re.sub('[^a-zA-Z0-9]', '_', label)}"],
            "targetLabel": target,
        }
        for target, label in labels.items()
    ]
