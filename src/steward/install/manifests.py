"""An installation, whole: the objects in the order in which they are applied."""

from collections.abc import Callable
from typing import Any

from steward.install.monitoring import alerts, dashboards
from steward.install.network import metrics_service, network_policy, service_monitor, webhook_service
from steward.install.operators import MULTIGRES, SHIPPED, TENANTS, Shipped
from steward.install.rbac import access, custom_kinds, databases_for_tenants, metrics_reader
from steward.install.values import OperatorValues, Values
from steward.install.workloads import workload
from steward.kube.crd.schema import definition
from steward.kube.objects.kinds import Manifest
from steward.multigres import webhook_configurations as multigres_rules
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants import webhook_configurations as tenant_rules
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS

CUSTOM_KINDS = {MULTIGRES: MULTIGRES_KINDS, TENANTS: TENANT_KINDS}


def manifests(values: Values) -> list[Manifest]:
    found = enabled(values)
    return [
        namespace(values),
        *(crd for operator in found if values.crds for crd in crds(operator)),
        metrics_reader(),
        *(manifest for operator in found for manifest in of_operator(operator, values)),
        *([databases_for_tenants()] if len(found) == len(SHIPPED) else []),
    ]


def enabled(values: Values) -> list[Shipped]:
    return [operator for operator in SHIPPED if chosen(operator, values).enabled]


def chosen(operator: Shipped, values: Values) -> OperatorValues:
    return values.multigres if operator == MULTIGRES else values.tenants


def namespace(values: Values) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": values.namespace,
            "labels": {
                "app.kubernetes.io/part-of": "steward",
                "pod-security.kubernetes.io/enforce": "restricted",
            },
        },
    }


def crds(operator: Shipped) -> list[Manifest]:
    return [definition(custom) for custom in CUSTOM_KINDS[operator]]


def of_operator(operator: Shipped, values: Values) -> list[Manifest]:
    return [
        *rbac(operator, values),
        *core(operator, values),
        *([network_policy(operator, values)] if values.network_policy else []),
        *(webhooks(operator, values) if values.webhooks else []),
        *monitoring(operator, values),
    ]


def monitoring(operator: Shipped, values: Values) -> list[Manifest]:
    wanted = values.monitoring
    return [
        *([service_monitor(operator, values)] if wanted.service_monitor else []),
        *([alerts(operator, values)] if wanted.alerts else []),
        *([dashboards(operator, values)] if wanted.dashboards else []),
    ]


def rbac(operator: Shipped, values: Values) -> list[Manifest]:
    return [*access(operator, values), *(custom_kinds(values) if operator == TENANTS else [])]


def core(operator: Shipped, values: Values) -> list[Manifest]:
    return [*workload(operator, chosen(operator, values), values), metrics_service(operator, values)]


def webhooks(operator: Shipped, values: Values) -> list[Manifest]:
    service = webhook_service(operator, values)
    reached = {"service": {"namespace": values.namespace, "name": service["metadata"]["name"], "port": 443}}
    user = f"system:serviceaccount:{values.namespace}:{operator.name}"
    return [service, *WEBHOOKS[operator](reached, user)]


def _multigres_webhooks(reached: dict[str, Any], user: str) -> list[Manifest]:
    return [*multigres_rules.webhook_configurations(reached), *multigres_rules.child_policy(user)]


def _tenant_webhooks(reached: dict[str, Any], _user: str) -> list[Manifest]:
    return tenant_rules.webhook_configurations(reached)


WEBHOOKS: dict[Shipped, Callable[[dict[str, Any], str], list[Manifest]]] = {
    MULTIGRES: _multigres_webhooks,
    TENANTS: _tenant_webhooks,
}
