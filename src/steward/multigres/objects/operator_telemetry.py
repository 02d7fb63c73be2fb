"""The telemetry settings of the operator, for clusters without `spec.observability`. Pure.

Values that the schema of `observability` does not know are left out: the API server would reject the children.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.observability import Observability
from steward.multigres.api.scalars import Unset
from steward.multigres.objects.versions import OPERATOR_TELEMETRY

VARIABLES: Final = {
    "OTEL_EXPORTER_OTLP_ENDPOINT": "otlpEndpoint",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "otlpProtocol",
    "OTEL_TRACES_EXPORTER": "tracesExporter",
    "OTEL_METRICS_EXPORTER": "metricsExporter",
    "OTEL_LOGS_EXPORTER": "logsExporter",
    "OTEL_METRIC_EXPORT_INTERVAL": "metricExportInterval",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "metricsTemporality",
    "OTEL_TRACES_SAMPLER": "tracesSampler",
}


def operator_telemetry(environment: Mapping[str, str]) -> Observability | Unset:
    """UNSET without an endpoint."""
    if not environment.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return UNSET
    found: dict[str, Any] = {}
    for variable, field in VARIABLES.items():
        value = environment.get(variable, "")
        if value and _is_valid(field, value):
            found[field] = value
    return msgspec.convert(found, Observability)


def _is_valid(field: str, value: str) -> bool:
    try:
        msgspec.convert({field: value}, Observability)
    except msgspec.ValidationError:
        return False
    return True


def with_telemetry(
    spec: MultigresClusterSpec, version: int, operator: Observability | Unset
) -> MultigresClusterSpec:
    if spec.observability is not UNSET or version < OPERATOR_TELEMETRY:
        return spec
    return replace(spec, observability=operator)
