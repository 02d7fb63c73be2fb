"""Services, network policies and monitors: Prometheus reads metrics, the API server calls webhooks."""

from typing import Any

from steward.install.operators import (
    METRICS_PORT,
    PROBES_PORT,
    WEBHOOK_PORT,
    ShippedOperator,
    labels,
    selector,
)
from steward.install.values import Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest


def metrics_service(operator: ShippedOperator, values: Values) -> Manifest:
    return _service(operator, values, "metrics", METRICS_PORT)


def webhook_service(operator: ShippedOperator, values: Values) -> Manifest:
    return _service(operator, values, "webhooks", 443)


def _service(operator: ShippedOperator, values: Values, port: str, number: int) -> Manifest:
    """A Service for the container port of that name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": service_name(operator, port),
            "namespace": values.namespace,
            "labels": labels(operator),
        },
        "spec": {
            "selector": selector(operator),
            "ports": [{"name": port, "port": number, "targetPort": port, "protocol": "TCP"}],
        },
    }


def service_name(operator: ShippedOperator, port: str) -> str:
    return f"{operator.name}-{'webhook' if port == 'webhooks' else port}-service"


def network_policy(operator: ShippedOperator, values: Values) -> Manifest:
    """Limits ingress. Egress is not limited: databases, topology servers and the API server may be anywhere."""
    peers = values.network_policy_peers
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(operator, values),
        "spec": {
            "podSelector": {"matchLabels": selector(operator)},
            "policyTypes": ["Ingress"],
            "ingress": [
                # Kubelets connect from the addresses of their nodes, which no selector describes.
                _ingress(PROBES_PORT, []),
                _ingress(METRICS_PORT, peers.metrics),
                _ingress(WEBHOOK_PORT, peers.webhooks),
            ],
        },
    }


def _ingress(port: int, peers: list[dict[str, Any]]) -> Manifest:
    """Everybody may connect if there are no peers: an API server has no pod, and its addresses are not known here."""
    return {"ports": [{"port": port, "protocol": "TCP"}], **({"from": peers} if peers else {})}


def service_monitor(operator: ShippedOperator, values: Values) -> Manifest:
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": metadata(operator, values),
        "spec": {
            "selector": {"matchLabels": selector(operator)},
            "namespaceSelector": {"matchNames": [values.namespace]},
            "endpoints": [
                {
                    "port": "metrics",
                    "path": "/metrics",
                    "scheme": "https",
                    "interval": "30s",
                    # The metrics have namespace labels of their own.
                    "honorLabels": True,
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                    "tlsConfig": {"insecureSkipVerify": True},
                }
            ],
        },
    }
