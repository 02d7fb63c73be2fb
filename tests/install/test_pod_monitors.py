"""PodMonitors and the pods of a cluster."""

import pytest

from steward.install.pod_monitors import pod_monitors
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest
from tests.multigres.support.tree import build_tree, containers, of_kind


@pytest.mark.parametrize(
    ("monitor", "kind"), list(zip(pod_monitors(Values()), ("StatefulSet", "Deployment"), strict=True))
)
def test_a_monitor_selects_pods_that_have_its_ports_and_labels(monitor: Manifest, kind: str) -> None:
    selected = monitor["spec"]["selector"]["matchLabels"].items()
    pods = [
        workload["spec"]["template"]
        for workload in of_kind(build_tree(), kind)
        if selected <= workload["spec"]["template"]["metadata"]["labels"].items()
    ]
    assert pods
    endpoints = monitor["spec"]["podMetricsEndpoints"]
    for pod in pods:
        ports = {port["name"] for container in containers(pod) for port in container.get("ports", [])}
        assert {endpoint["port"] for endpoint in endpoints} <= ports
        labels = {
            f"__meta_kubernetes_pod_label_{_prometheus_name(name)}" for name in pod["metadata"]["labels"]
        }
        [cluster] = [
            rule["sourceLabels"][0]
            for rule in endpoints[0]["relabelings"]
            if rule["targetLabel"] == "cluster"
        ]
        assert cluster in labels


def _prometheus_name(label: str) -> str:
    return label.replace(".", "_").replace("/", "_").replace("-", "_")
