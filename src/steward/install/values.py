"""What somebody who installs Steward can choose. The Helm chart's values file is made from here: the same words."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

VERSION = "0.1.0"
NAMESPACE = "steward-system"


def _says(text: str) -> Meta:
    return Meta(description=text)


class Image(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    repository: Annotated[str, _says("Where the image is.")] = "steward"
    tag: Annotated[str, _says("Its version.")] = VERSION
    pull_policy: Annotated[
        Literal["Always", "IfNotPresent", "Never"], _says("Always, IfNotPresent or Never.")
    ] = "IfNotPresent"


def _resources() -> dict[str, Any]:
    return {"requests": {"cpu": "50m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}}


class OperatorValues(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One Deployment."""

    enabled: Annotated[bool, _says("Whether it is installed.")] = True
    replicas: Annotated[
        int,
        Meta(
            ge=0,
            description="One leads and works; all of them serve webhooks. Two survive the loss of a node.",
        ),
    ] = 2
    args: Annotated[list[str], _says("More flags of `steward run`: see docs/run.md.")] = field(
        default_factory=list
    )
    env: Annotated[
        list[dict[str, Any]],
        _says("More variables, as a container has them: OTEL_EXPORTER_OTLP_ENDPOINT turns tracing on."),
    ] = field(default_factory=list)
    resources: Annotated[dict[str, Any], _says("Requests and limits of the container.")] = field(
        default_factory=_resources
    )
    node_selector: Annotated[dict[str, str], _says("Labels of the nodes that its pods may run on.")] = field(
        default_factory=dict
    )
    tolerations: Annotated[list[dict[str, Any]], _says("Taints of nodes that its pods put up with.")] = field(
        default_factory=list
    )


class Monitoring(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    service_monitor: Annotated[bool, _says("ServiceMonitors, for the Prometheus operator.")] = False
    alerts: Annotated[bool, _says("PrometheusRules, for the Prometheus operator.")] = False
    dashboards: Annotated[bool, _says("ConfigMaps with dashboards, for the sidecar of Grafana.")] = False


class Values(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    namespace: Annotated[str, _says("Where the operators run.")] = NAMESPACE
    image: Annotated[Image, _says("One image for both operators.")] = Image()
    image_pull_secrets: Annotated[
        list[dict[str, str]], _says("Secrets to pull it with, each as {name: ...}.")
    ] = field(default_factory=list)
    multigres: Annotated[OperatorValues, _says("The operator of MultigresClusters.")] = field(
        default_factory=OperatorValues
    )
    tenants: Annotated[OperatorValues, _says("The operator of Tenants.")] = field(
        default_factory=OperatorValues
    )
    crds: Annotated[
        bool, _says("Whether the custom resource definitions are installed. They stay on an uninstall.")
    ] = True
    priority_class_name: Annotated[str, _says("A PriorityClass for the operators' pods.")] = ""
    webhooks: Annotated[bool, _says("Defaulting and validation when objects are applied.")] = True
    network_policy: Annotated[bool, _says("NetworkPolicies that let in metrics, probes and webhooks.")] = True
    monitoring: Annotated[Monitoring, _says("What a monitoring stack picks up.")] = Monitoring()
