"""The two operators as an installation sees them: how they are called and what differs between them."""

from typing import NamedTuple

METRICS_PORT = 8443
PROBES_PORT = 8081
WEBHOOK_PORT = 9443


class Shipped(NamedTuple):
    """An operator: the word that users type, and the name of its Deployment, service account, roles and lease."""

    word: str
    name: str


MULTIGRES = Shipped("multigres", "multigres-operator")
TENANTS = Shipped("tenants", "tenant-operator")
SHIPPED = (MULTIGRES, TENANTS)


def labels(operator: Shipped) -> dict[str, str]:
    return {**selector(operator), "app.kubernetes.io/part-of": "steward"}


def selector(operator: Shipped) -> dict[str, str]:
    return {"app.kubernetes.io/name": operator.name, "app.kubernetes.io/component": "operator"}
