"""The two operators: names, ports and labels."""

from typing import NamedTuple

METRICS_PORT = 8443
PROBES_PORT = 8081
WEBHOOK_PORT = 9443


class ShippedOperator(NamedTuple):
    """An operator: the name on the command line, and the name of its Deployment, service account, roles and lease."""

    short_name: str
    name: str


MULTIGRES = ShippedOperator("multigres", "multigres-operator")
TENANTS = ShippedOperator("tenants", "tenant-operator")
OPERATORS = (MULTIGRES, TENANTS)


def labels(operator: ShippedOperator) -> dict[str, str]:
    return {**selector(operator), "app.kubernetes.io/part-of": "steward"}


def selector(operator: ShippedOperator) -> dict[str, str]:
    return {"app.kubernetes.io/name": operator.name, "app.kubernetes.io/component": "operator"}
