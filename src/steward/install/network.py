"""How an operator is reached: metrics for Prometheus, webhooks for the API server, and nothing else."""

from steward.install.operators import METRICS_PORT, PROBES_PORT, WEBHOOK_PORT, Shipped, labels, selector
from steward.install.values import Values
from steward.install.workloads import metadata
from steward.kube.objects.kinds import Manifest


def metrics_service(operator: Shipped, values: Values) -> Manifest:
    return _service(operator, values, "metrics", METRICS_PORT)


def webhook_service(operator: Shipped, values: Values) -> Manifest:
    return _service(operator, values, "webhooks", 443)


def _service(operator: Shipped, values: Values, port: str, number: int) -> Manifest:
    """In front of the container's port of that name."""
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


def service_name(operator: Shipped, port: str) -> str:
    return f"{operator.name}-{'webhook' if port == 'webhooks' else port}-service"


def network_policy(operator: Shipped, values: Values) -> Manifest:
    """Who may call in. Calls out are not limited: databases, topology servers and the API server are anywhere."""
    ports = (METRICS_PORT, PROBES_PORT, WEBHOOK_PORT)
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(operator, values),
        "spec": {
            "podSelector": {"matchLabels": selector(operator)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": [{"port": port, "protocol": "TCP"} for port in ports]}],
        },
    }


def service_monitor(operator: Shipped, values: Values) -> Manifest:
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
                    # Our series speak of namespaces of their own.
                    "honorLabels": True,
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                    "tlsConfig": {"insecureSkipVerify": True},
                }
            ],
        },
    }
