"""What all pods of the data plane have in common: identity, security, spread, probes and telemetry.

Every pod passes Pod Security `restricted`. A user's affinity takes the place of the default spread; a user's labels and
annotations are added and never win.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import UNSET, to_builtins

from steward.multigres.api.compute import MultiOrch, Pool, Resources, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.observability import Observability
from steward.multigres.objects.metadata import NODE_NAME, NODE_ZONE, Manifest, selector
from steward.multigres.resolution.layers import given

NOBODY = 65532
SAMPLING_DIRECTORY = "/etc/otel"
SAMPLING_KEY = "sampling-config.yaml"
TELEMETRY_OFF = "disabled"


class Port(NamedTuple):
    name: str
    number: int

    def of_container(self) -> Manifest:
        return {"name": self.name, "containerPort": self.number, "protocol": "TCP"}

    def of_service(self) -> Manifest:
        return {"name": self.name, "port": self.number, "protocol": "TCP", "targetPort": self.name}


def http_probes(ready: str, live: str, port: str) -> Manifest:
    """Start-up may take 150 s: an image that is still restoring must not be shot for being slow."""
    return {
        "startupProbe": {**_get(ready, port), "periodSeconds": 5, "failureThreshold": 30},
        "livenessProbe": {**_get(live, port), "periodSeconds": 10},
        "readinessProbe": {**_get(ready, port), "periodSeconds": 5},
    }


def _get(path: str, port: str) -> Manifest:
    return {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}}


def container_security() -> Manifest:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
    }


def pod_security(user: int = NOBODY) -> Manifest:
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def resources(of: Resources | Any) -> Manifest:
    return {} if of is UNSET else to_builtins(of)


def spread(of: Mapping[str, str], shape: Stateless | MultiOrch | Pool) -> Manifest:
    """Where pods go: as the user says, else to as many zones and nodes as there are, where that is possible."""
    placement: Manifest = {}
    if shape.tolerations is not UNSET:
        placement["tolerations"] = shape.tolerations
    if shape.affinity is not UNSET:
        return {**placement, "affinity": shape.affinity}
    alike = {"labelSelector": {"matchLabels": selector(of)}}
    preferred = [{"weight": 100, "podAffinityTerm": {**alike, "topologyKey": NODE_NAME}}]
    zones = {"maxSkew": 1, "topologyKey": NODE_ZONE, "whenUnsatisfiable": "ScheduleAnyway", **alike}
    return {
        **placement,
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
        "topologySpreadConstraints": [zones],
    }


def pod_metadata(of: Mapping[str, str], shape: Stateless | MultiOrch) -> Manifest:
    written: Manifest = {"labels": {**given(shape.pod_labels, {}), **of}}
    if annotations := given(shape.pod_annotations, {}):
        written["annotations"] = dict(annotations)
    return written


def pulling(images: Images) -> Manifest:
    secrets = given(images.image_pull_secrets, [])
    return {"imagePullSecrets": secrets} if secrets else {}


def pull_policy(images: Images) -> str:
    return given(images.image_pull_policy, "IfNotPresent")


def field_env(name: str, path: str) -> Manifest:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def telemetry_env(settings: Observability | Any, component: str) -> list[Manifest]:
    """OTEL_* for one container; none when telemetry is off or nobody listens."""
    if settings is UNSET or given(settings.otlp_endpoint, "") in ("", TELEMETRY_OFF):
        return []
    values = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": settings.otlp_endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": settings.otlp_protocol,
        "OTEL_TRACES_EXPORTER": settings.traces_exporter,
        "OTEL_METRICS_EXPORTER": settings.metrics_exporter,
        "OTEL_LOGS_EXPORTER": settings.logs_exporter,
        "OTEL_METRIC_EXPORT_INTERVAL": settings.metric_export_interval,
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": settings.metrics_temporality,
        "OTEL_TRACES_SAMPLER": settings.traces_sampler,
        "OTEL_SERVICE_NAME": component,
    }
    if settings.sampling_config_ref is not UNSET:
        values["OTEL_TRACES_SAMPLER_CONFIG"] = f"{SAMPLING_DIRECTORY}/{SAMPLING_KEY}"
    return [{"name": name, "value": value} for name, value in values.items() if value is not UNSET]


def sampling_volume(settings: Observability | Any) -> list[Manifest]:
    if settings is UNSET or settings.sampling_config_ref is UNSET:
        return []
    reference = settings.sampling_config_ref
    items = [{"key": given(reference.key, SAMPLING_KEY), "path": SAMPLING_KEY}]
    return [{"name": "sampling", "configMap": {"name": reference.name, "defaultMode": 420, "items": items}}]


def sampling_mount(settings: Observability | Any) -> list[Manifest]:
    if settings is UNSET or settings.sampling_config_ref is UNSET:
        return []
    return [{"name": "sampling", "mountPath": SAMPLING_DIRECTORY, "readOnly": True}]
