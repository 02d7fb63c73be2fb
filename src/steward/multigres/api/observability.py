"""Telemetry and log levels of the data plane."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.multigres.api.scalars import UNSET, ApiStruct, KeyName, LogLevel, ObjectName, Unset

Exporter = Literal["otlp", "none", "console"]
MetricsExporter = Literal["otlp", "prometheus", "none", "console"]


class SamplingConfig(ApiStruct):
    """A ConfigMap with sampling rules."""

    name: ObjectName
    """The ConfigMap, in the same namespace."""
    key: KeyName | Unset = UNSET
    """The key in it; sampling-config.yaml when left out."""


class Observability(ApiStruct):
    """OpenTelemetry settings of every data-plane container. The operator's own apply when left out."""

    otlp_endpoint: Annotated[str, Meta(max_length=2048)] | Unset = UNSET
    """Where traces, metrics and logs are pushed. `disabled` turns telemetry off."""
    otlp_protocol: Literal["http/protobuf", "grpc"] | Unset = UNSET
    """The OTLP protocol."""
    traces_exporter: Exporter | Unset = UNSET
    """Where traces go."""
    metrics_exporter: MetricsExporter | Unset = UNSET
    """Where metrics go. With `prometheus`, gateways and poolers serve them, and connections are counted when a cell
    drains; that is the default without an endpoint. `otlp` pushes them."""
    logs_exporter: Exporter | Unset = UNSET
    """Where logs go."""
    metric_export_interval: Annotated[str, Meta(max_length=32)] | Unset = UNSET
    """Time between two exports of metrics: a duration such as `15s`, or a number of milliseconds."""
    metrics_temporality: Literal["cumulative", "delta"] | Unset = UNSET
    """Whether metrics are sums since the start or since the last export."""
    traces_sampler: Annotated[str, Meta(max_length=64)] | Unset = UNSET
    """The sampler, as OTEL_TRACES_SAMPLER names it."""
    sampling_config_ref: SamplingConfig | Unset = UNSET
    """Sampling rules in a ConfigMap, mounted into every container."""


class LogLevels(ApiStruct):
    """Log level of each component."""

    pgctld: LogLevel | Unset = UNSET
    """Level of the Postgres supervisor."""
    multipooler: LogLevel | Unset = UNSET
    """Level of the poolers."""
    multiorch: LogLevel | Unset = UNSET
    """Level of the orchestrators."""
    multiadmin: LogLevel | Unset = UNSET
    """Level of multiadmin."""
    multigateway: LogLevel | Unset = UNSET
    """Level of the gateways."""
