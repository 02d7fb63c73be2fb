"""No row, whatever its values and whatever the template does with them, keeps other rows from becoming Tenants."""

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tenants.support.manifests import resource
from tests.tenants.support.offline_registry import OfflineRegistry, Server

HONEST = ("honest", "https://honest.example.com", "1")
LONG = "https://" + "%2" * 200_000
"""Accepted as a value, and too long to look for the host in it."""

TEXTS = (
    "{{ .host }}",
    "{{ .hostOrUrl | fromJson | toJson }}",
    "{{ .hostOrUrl | b64dec }}",
    "{{ .hostOrUrl | int }}",
    "{{ .hostOrUrl | toDate | date }}",
    "{{ .hostOrUrl | splitList `,` | join `-` }}",
    "{{ .uid | lower | trunc63 }}",
    "{{ .hostOrUrl | upper | quote | sha256sum }}",
    "{{ repeat 3 .hostOrUrl | title | nindent 4 }}",
    '{{ index (fromJson .hostOrUrl) "a" }}',
    "{{ regexReplaceAll `(a|b)*c` .hostOrUrl `x` }}",
)
BODY = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"labels": {"url": "{{ .hostOrUrl }}"}},
}


def registry_with(text: str) -> OfflineRegistry:
    spec = {**BODY, "data": {"value": text}}
    return OfflineRegistry(Server(), configMaps=[resource(spec=spec, nameTemplate="{{ .uid }}")])


VALUES = st.one_of(
    st.text(max_size=60),
    st.binary(max_size=60),
    st.sampled_from(
        [
            LONG,
            "x" * 2_000_000,
            "x" * 1_040_000,
            "\U0001f4a5" * 200_000,
            "[" * 20_000,
            '{"a":' * 5_000,
            "9" * 5_000,
            "1e999999999",
            "{{ .uid }}",
            "a\0b",
            "\ud800",
            b"\xff",
            None,
        ]
    ),
)


@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.large_base_example, HealthCheck.too_slow],
)
@given(st.sampled_from(TEXTS), st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=3))
def test_the_other_rows_become_tenants(text: str, hostile: list[tuple[Any, Any]]) -> None:
    registry = registry_with(text)
    rows = [*((uid, value, "1") for uid, value in hostile), HONEST]
    assert "honest-web-app" in asyncio.run(registry.sync_rows(rows))
    assert registry.state.write_failure is None


async def test_a_host_that_cannot_be_found_in_time_rejects_its_row() -> None:
    registry = registry_with("{{ .host }}")
    assert await registry.sync_rows([("acme", LONG, "1"), HONEST]) == ["honest-web-app"]
    (rejected,) = registry.state.rejected
    assert rejected.uid == "acme"
    assert "its hostOrUrl has 400008 characters, too many to find the host: shorten it" in rejected.reason


async def test_a_row_that_is_too_large_is_reported_and_forgotten_when_it_is_gone() -> None:
    registry = registry_with("{{ .host }}")
    assert await registry.sync_rows([("acme", "x" * 2_000_000, "1"), HONEST]) == ["honest-web-app"]
    assert [row.uid for row in registry.state.rejected] == ["acme"]
    await registry.sync_rows([HONEST])
    assert registry.state.rejected == ()


async def test_a_mistake_of_the_operator_rejects_one_row_and_logs_no_value(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(row: Any, *rest: Any) -> Any:
        if row.uid == "acme":
            raise RecursionError(f"cannot read {row.host_or_url}")
        return real(row, *rest)

    module = "steward.tenants.controllers.registry.tenant_writer"
    real = __import__(module, fromlist=["row_variables"]).row_variables
    monkeypatch.setattr(f"{module}.row_variables", fail)
    registry = registry_with("x")
    with caplog.at_level(logging.ERROR):
        assert await registry.sync_rows([("acme", "s3cret-value", "1"), HONEST]) == ["honest-web-app"]
    assert "cannot be written (RecursionError): the operator's log" in registry.state.rejected[0].reason
    assert "RecursionError" in caplog.text
    assert "s3cret-value" not in caplog.text
