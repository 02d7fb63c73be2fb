"""All manifests of an installation, in the order in which they are applied."""

from collections.abc import Callable
from typing import Any

from steward.install.admission_policy import operator_policy, policy_settings
from steward.install.monitoring import alerts, dashboards
from steward.install.network import metrics_service, network_policy, service_monitor, webhook_service
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.page import page_manifests
from steward.install.pod_monitors import pod_monitors
from steward.install.rbac import (
    databases_for_tenants,
    impersonation_roles,
    metrics_reader,
    namespace_bindings,
    namespaced_operator_roles,
    operator_roles,
)
from steward.install.values import OperatorValues, Values
from steward.install.workloads import operator_workload
from steward.kube.crd.schema import definition
from steward.kube.objects.kinds import Manifest
from steward.multigres import webhook_configurations as multigres_rules
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants import webhook_configurations as tenant_rules
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS

NAMESPACE_NAME = "kubernetes.io/metadata.name"
CUSTOM_KINDS = {MULTIGRES: MULTIGRES_KINDS, TENANTS: TENANT_KINDS}


def manifests(values: Values) -> list[Manifest]:
    operators = enabled_operators(values)
    return [
        namespace(values),
        *(crd for operator in operators if values.crds for crd in crds(operator)),
        metrics_reader(),
        *(manifest for operator in operators for manifest in operator_manifests(operator, values)),
        *([databases_for_tenants()] if len(operators) == len(OPERATORS) else []),
        *page_manifests(values),
    ]


def enabled_operators(values: Values) -> list[ShippedOperator]:
    return [operator for operator in OPERATORS if operator_values(operator, values).enabled]


def operator_values(operator: ShippedOperator, values: Values) -> OperatorValues:
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


def crds(operator: ShippedOperator) -> list[Manifest]:
    return [definition(custom) for custom in CUSTOM_KINDS[operator]]


def operator_manifests(operator: ShippedOperator, values: Values) -> list[Manifest]:
    return [
        *rbac(operator, values),
        *(policy(operator, values) if values.admission_policies else []),
        *core(operator, values),
        *([network_policy(operator, values)] if values.network_policy else []),
        *(webhooks(operator, values) if values.webhooks else []),
        *monitoring_manifests(operator, values),
    ]


def monitoring_manifests(operator: ShippedOperator, values: Values) -> list[Manifest]:
    monitoring = values.monitoring
    return [
        *([service_monitor(operator, values)] if monitoring.service_monitor else []),
        *(pod_monitors(values) if monitoring.pod_monitors and operator == MULTIGRES else []),
        *([alerts(operator, values)] if monitoring.alerts else []),
        *([dashboards(operator, values)] if monitoring.dashboards else []),
    ]


def rbac(operator: ShippedOperator, values: Values) -> list[Manifest]:
    namespaces = operator_values(operator, values).namespaces
    roles = namespaced_operator_roles if namespaces else operator_roles
    accounts = values.tenants.impersonate if operator == TENANTS else []
    return [
        *roles(operator, values),
        *(binding for name in namespaces for binding in namespace_bindings(operator, name, values)),
        *(role for each in accounts for role in impersonation_roles(each, values)),
    ]


def policy(operator: ShippedOperator, values: Values) -> list[Manifest]:
    return operator_policy(operator, policy_settings(values))


def core(operator: ShippedOperator, values: Values) -> list[Manifest]:
    return [
        *operator_workload(operator, operator_values(operator, values), values),
        metrics_service(operator, values),
    ]


def webhooks(operator: ShippedOperator, values: Values) -> list[Manifest]:
    namespaces = operator_values(operator, values).namespaces
    return selected_webhooks(operator, values, namespace_selector(namespaces) if namespaces else None)


def namespace_selector(names: list[str]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "In", "values": names}]}


def selected_webhooks(operator: ShippedOperator, values: Values, selector: Any) -> list[Manifest]:
    """The webhooks of an operator, for all namespaces or for those that the selector matches."""
    service = webhook_service(operator, values)
    client_config = {
        "service": {"namespace": values.namespace, "name": service["metadata"]["name"], "port": 443}
    }
    user = f"system:serviceaccount:{values.namespace}:{operator.name}"
    made = WEBHOOKS[operator](client_config, user)
    return [service, *(_select_namespaces(manifest, selector) if selector else manifest for manifest in made)]


def _select_namespaces(manifest: Manifest, selector: Any) -> Manifest:
    """An operator of some namespaces can answer for these only: it may not read elsewhere."""
    chosen = {"namespaceSelector": selector}
    if "webhooks" in manifest:
        return {**manifest, "webhooks": [{**webhook, **chosen} for webhook in manifest["webhooks"]]}
    if manifest["kind"] != "ValidatingAdmissionPolicy":
        return manifest
    matched = {**manifest["spec"]["matchConstraints"], **chosen}
    return {**manifest, "spec": {**manifest["spec"], "matchConstraints": matched}}


def _multigres_webhooks(client_config: dict[str, Any], user: str) -> list[Manifest]:
    return [*multigres_rules.webhook_configurations(client_config), *multigres_rules.child_policy(user)]


def _tenant_webhooks(client_config: dict[str, Any], _user: str) -> list[Manifest]:
    return tenant_rules.webhook_configurations(client_config)


WEBHOOKS: dict[ShippedOperator, Callable[[dict[str, Any], str], list[Manifest]]] = {
    MULTIGRES: _multigres_webhooks,
    TENANTS: _tenant_webhooks,
}
