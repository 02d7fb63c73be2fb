"""The values of an installation. The values file of the Helm chart is generated from here."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

VERSION = "0.1.0"
NAMESPACE = "steward-system"


def _description(text: str) -> Meta:
    return Meta(description=text)


class Image(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    repository: Annotated[str, _description("Image repository.")] = "steward"
    tag: Annotated[str, _description("Image tag.")] = VERSION
    pull_policy: Annotated[
        Literal["Always", "IfNotPresent", "Never"], _description("Always, IfNotPresent or Never.")
    ] = "IfNotPresent"


def _resources() -> dict[str, Any]:
    return {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}}


class OperatorValues(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One Deployment."""

    enabled: Annotated[bool, _description("Whether to install it.")] = True
    replicas: Annotated[
        int,
        Meta(
            ge=0,
            description="One replica leads and reconciles; all serve webhooks. Two survive the loss of a node.",
        ),
    ] = 2
    args: Annotated[list[str], _description("Additional flags of `steward run`: see docs/run.md.")] = field(
        default_factory=list
    )
    env: Annotated[
        list[dict[str, Any]],
        _description(
            "Additional environment variables of the container: OTEL_EXPORTER_OTLP_ENDPOINT turns tracing on."
        ),
    ] = field(default_factory=list)
    resources: Annotated[dict[str, Any], _description("Requests and limits of the container.")] = field(
        default_factory=_resources
    )
    node_selector: Annotated[
        dict[str, str], _description("Labels of the nodes that its pods may run on.")
    ] = field(default_factory=dict)
    tolerations: Annotated[list[dict[str, Any]], _description("Taints of nodes that its pods tolerate.")] = (
        field(default_factory=list)
    )


class Monitoring(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    service_monitor: Annotated[bool, _description("ServiceMonitors, for the Prometheus operator.")] = False
    alerts: Annotated[bool, _description("PrometheusRules, for the Prometheus operator.")] = False
    dashboards: Annotated[bool, _description("ConfigMaps with dashboards, for the sidecar of Grafana.")] = (
        False
    )


class Values(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    namespace: Annotated[str, _description("Where the operators run.")] = NAMESPACE
    image: Annotated[Image, _description("One image for both operators.")] = Image()
    image_pull_secrets: Annotated[
        list[dict[str, str]], _description("Image pull secrets, each as {name: ...}.")
    ] = field(default_factory=list)
    multigres: Annotated[OperatorValues, _description("The multigres operator.")] = field(
        default_factory=OperatorValues
    )
    tenants: Annotated[OperatorValues, _description("The tenants operator.")] = field(
        default_factory=OperatorValues
    )
    crds: Annotated[
        bool,
        _description("Whether to install the custom resource definitions. Uninstalling keeps them."),
    ] = True
    priority_class_name: Annotated[str, _description("A PriorityClass for the operators' pods.")] = ""
    webhooks: Annotated[bool, _description("Defaulting and validation when objects are applied.")] = True
    network_policy: Annotated[
        bool, _description("NetworkPolicies that let in metrics, probes and webhooks.")
    ] = True
    monitoring: Annotated[Monitoring, _description("Objects for a monitoring stack.")] = Monitoring()
