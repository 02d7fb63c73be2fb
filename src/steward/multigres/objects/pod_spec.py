"""Fields of pod and container specs that all components share: security contexts, scheduling, probes, telemetry.

Every pod passes Pod Security `restricted`. The user's affinity replaces the default spread over zones and nodes; the
user's labels and annotations are added but never replace those of the operator.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import UNSET, to_builtins

from steward.kube.objects.durations import parse_duration
from steward.multigres.api.compute import MultiOrch, Pool, Resources, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.observability import Observability
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import HOSTNAME_LABEL, NODE_ZONE_LABEL, Manifest, selector
from steward.multigres.objects.versions import (
    EXPORT_INTERVAL_IN_MILLISECONDS,
    FIRST,
    LENIENT_LIVENESS,
    PROMETHEUS_METRICS,
)

NONROOT_UID = 65532
POSTGRES_UID = 999
SAMPLING_DIRECTORY = "/etc/otel"
SAMPLING_KEY = "sampling-config.yaml"
TELEMETRY_OFF = "disabled"
PROMETHEUS = "prometheus"
APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
UNCONFINED = "unconfined"


class Port(NamedTuple):
    name: str
    number: int

    def container_port(self) -> Manifest:
        return {"name": self.name, "containerPort": self.number, "protocol": "TCP"}

    def service_port(self) -> Manifest:
        return {"name": self.name, "port": self.number, "protocol": "TCP", "targetPort": self.name}


def http_probes(ready: str, live: str, port: str, version: int = FIRST) -> Manifest:
    """Start-up may take 150 s: the kubelet must not kill a server that is still restoring a backup."""
    return {
        "startupProbe": {**_http_get(ready, port), "periodSeconds": 5, "failureThreshold": 30},
        "livenessProbe": {**_http_get(live, port), "periodSeconds": 10, **_liveness_limits(version)},
        "readinessProbe": {**_http_get(ready, port), "periodSeconds": 5},
    }


def _liveness_limits(version: int) -> Manifest:
    """A node that is short of processor or disk time answers late. With the kubelet's limits of one second and three
    tries it then kills servers, which makes their start one more load on the node."""
    return {} if version < LENIENT_LIVENESS else {"timeoutSeconds": 5, "failureThreshold": 6}


def _http_get(path: str, port: str) -> Manifest:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}}


def container_security_context() -> Manifest:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
    }


def pod_security_fields(user: int = NONROOT_UID) -> Manifest:
    """No component calls the API server, so no pod gets a token for it: an image or a service account that the author
    of a cluster chooses must not bring the rights of that account along. Object stores that trust a service account
    use tokens of their own, which this setting does not affect."""
    context = {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return {"securityContext": context, "automountServiceAccountToken": False}


def resource_requirements(resources: Resources | Any) -> Manifest:
    return {} if resources is UNSET else to_builtins(resources)


def scheduling_fields(labels: Mapping[str, str], compute: Stateless | MultiOrch | Pool) -> Manifest:
    """Tolerations, and the user's affinity or a preferred spread over zones and nodes."""
    fields: Manifest = {}
    if compute.tolerations is not UNSET:
        fields["tolerations"] = compute.tolerations
    if compute.affinity is not UNSET:
        return {**fields, "affinity": compute.affinity}
    same_pods = {"labelSelector": {"matchLabels": selector(labels)}}
    preferred = [{"weight": 100, "podAffinityTerm": {**same_pods, "topologyKey": HOSTNAME_LABEL}}]
    zones = {"maxSkew": 1, "topologyKey": NODE_ZONE_LABEL, "whenUnsatisfiable": "ScheduleAnyway", **same_pods}
    return {
        **fields,
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "topologySpreadConstraints": [zones],
    }


def pod_metadata(labels: Mapping[str, str], compute: Stateless | MultiOrch) -> Manifest:
    meta: Manifest = {"labels": {**or_default(compute.pod_labels, {}), **labels}}
    if annotations := allowed_annotations(or_default(compute.pod_annotations, {})):
        meta["annotations"] = annotations
    return meta


def allowed_annotations(annotations: Mapping[str, str]) -> dict[str, str]:
    """Without those that take the default AppArmor profile away: Pod Security `baseline` forbids them."""
    return {
        name: value
        for name, value in annotations.items()
        if not (name.startswith(APPARMOR_ANNOTATION) and value == UNCONFINED)
    }


def pull_secret_fields(images: Images) -> Manifest:
    secrets = or_default(images.image_pull_secrets, [])
    return {"imagePullSecrets": secrets} if secrets else {}


def pull_policy(images: Images) -> str:
    return or_default(images.image_pull_policy, "IfNotPresent")


def downward_api_env(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def telemetry_env(settings: Observability | Any, component: str, version: int) -> list[Manifest]:
    """OTEL_* variables of one container; none without an endpoint."""
    if settings is UNSET or or_default(settings.otlp_endpoint, "") in ("", TELEMETRY_OFF):
        return []
    values = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": settings.otlp_endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": settings.otlp_protocol,
        "OTEL_TRACES_EXPORTER": settings.traces_exporter,
        "OTEL_METRICS_EXPORTER": settings.metrics_exporter,
        "OTEL_LOGS_EXPORTER": settings.logs_exporter,
        "OTEL_METRIC_EXPORT_INTERVAL": _export_interval(settings.metric_export_interval, version),
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": settings.metrics_temporality,
        "OTEL_TRACES_SAMPLER": settings.traces_sampler,
        "OTEL_SERVICE_NAME": component,
    }
    if settings.sampling_config_ref is not UNSET:
        values["OTEL_TRACES_SAMPLER_CONFIG"] = f"{SAMPLING_DIRECTORY}/{SAMPLING_KEY}"
    return [{"name": name, "value": value} for name, value in values.items() if value is not UNSET]


def serves_prometheus(settings: Observability | Any, version: int) -> bool:
    """Whether gateways and poolers serve their metrics: by default, unless telemetry is pushed or turned off."""
    if settings is UNSET:
        return version >= PROMETHEUS_METRICS
    if settings.metrics_exporter is not UNSET:
        return bool(settings.metrics_exporter == PROMETHEUS)
    return version >= PROMETHEUS_METRICS and not or_default(settings.otlp_endpoint, "")


def prometheus_env(settings: Observability | Any, port: Port, version: int) -> list[Manifest]:
    """For a container whose environment has POD_IP: by default the programs only listen on localhost."""
    if not serves_prometheus(settings, version):
        return []
    values = {
        "OTEL_METRICS_EXPORTER": PROMETHEUS,
        "OTEL_EXPORTER_PROMETHEUS_HOST": "$(POD_IP)",
        "OTEL_EXPORTER_PROMETHEUS_PORT": str(port.number),
    }
    known = {each["name"] for each in telemetry_env(settings, "", version)}
    return [{"name": name, "value": value} for name, value in values.items() if name not in known]


def prometheus_ports(settings: Observability | Any, port: Port, version: int) -> list[Port]:
    return [port] if serves_prometheus(settings, version) else []


def _export_interval(written: str | Any, version: int) -> str | Any:
    """The programs read milliseconds and ignore any other text."""
    if written is UNSET or version < EXPORT_INTERVAL_IN_MILLISECONDS:
        return written
    try:
        return str(round(parse_duration(written) * 1000))
    except ValueError:
        return written


def sampling_volumes(settings: Observability | Any) -> list[Manifest]:
    if settings is UNSET or settings.sampling_config_ref is UNSET:
        return []
    reference = settings.sampling_config_ref
    items = [{"key": or_default(reference.key, SAMPLING_KEY), "path": SAMPLING_KEY}]
    return [{"name": "sampling", "configMap": {"name": reference.name, "defaultMode": 420, "items": items}}]


def sampling_mounts(settings: Observability | Any) -> list[Manifest]:
    if settings is UNSET or settings.sampling_config_ref is UNSET:
        return []
    return [{"name": "sampling", "mountPath": SAMPLING_DIRECTORY, "readOnly": True}]
