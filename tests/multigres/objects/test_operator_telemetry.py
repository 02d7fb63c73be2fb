"""The operator's own OTEL_* variables, for clusters that set none."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.observability import Observability
from steward.multigres.objects.operator_telemetry import operator_telemetry, with_telemetry
from steward.multigres.objects.versions import FIRST, NEWEST

ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
OPERATOR = Observability(otlp_endpoint="http://collector:4318")


def spec(**fields: Any) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "a"}], **fields}, MultigresClusterSpec)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, UNSET),
        ({"OTEL_TRACES_SAMPLER": "always_on"}, UNSET),
        (ENDPOINT, OPERATOR),
        (
            {**ENDPOINT, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_METRICS_EXPORTER": "none"},
            Observability(
                otlp_endpoint="http://collector:4318", otlp_protocol="grpc", metrics_exporter="none"
            ),
        ),
        ({**ENDPOINT, "OTEL_TRACES_EXPORTER": "zipkin"}, OPERATOR),
    ],
    ids=["nothing", "no-endpoint", "endpoint", "more", "unknown-value"],
)
def test_variables_become_settings_that_the_schema_accepts(
    environment: dict[str, str], expected: Any
) -> None:
    assert operator_telemetry(environment) == expected


@pytest.mark.parametrize(
    ("fields", "version", "expected"),
    [
        ({}, NEWEST, OPERATOR),
        ({}, FIRST, UNSET),
        ({"observability": {"otlpEndpoint": "disabled"}}, NEWEST, Observability(otlp_endpoint="disabled")),
        ({"observability": {}}, NEWEST, Observability()),
    ],
    ids=["left-out", "older-pods", "disabled", "empty"],
)
def test_the_settings_of_the_operator_apply_when_the_cluster_has_none(
    fields: dict[str, Any], version: int, expected: Any
) -> None:
    assert with_telemetry(spec(**fields), version, OPERATOR).observability == expected
