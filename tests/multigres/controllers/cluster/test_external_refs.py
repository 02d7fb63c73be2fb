"""ConfigMaps with sampling rules that a cluster references."""

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, Key, Kind
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.views import ClusterView

REFERENCE = {"otlpEndpoint": "http://collector:4318", "samplingConfigRef": {"name": "rules"}}


class FakeClient:
    def __init__(self, config_map: dict[str, Any] | None) -> None:
        self.config_map = config_map
        self.reads = 0

    async def get(self, kind: Kind, key: Key) -> dict[str, Any]:
        self.reads += 1
        if self.config_map is None:
            raise NotFound(404, "NotFound", "gone", {})
        return self.config_map


def references(data: dict[str, str] | None) -> tuple[ExternalReferences, FakeClient]:
    rules = MultigresCacheRules("")
    stores: dict[Kind, Store[Any]] = {
        rule.kind: Store(rule) for rule in (rules.config_map, rules.storage_class, rules.secret)
    }
    manifest = None
    if data is not None:
        metadata = {"name": "rules", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        stores[CONFIG_MAP].observe_write(json.dumps(manifest).encode())
    client = FakeClient(manifest)
    context = SimpleNamespace(
        client=client, rules=rules, clock=SystemClock(), store=lambda rule: stores[rule.kind]
    )
    return ExternalReferences(cast(MultigresContext, context)), client


@pytest.mark.parametrize(
    ("data", "is_missing"),
    [(None, True), ({"other.yaml": ""}, True), ({"sampling-config.yaml": ""}, False)],
    ids=["no-config-map", "no-key", "found"],
)
async def test_missing_sampling_rules_are_named(data: dict[str, str] | None, is_missing: bool) -> None:
    found, client = references(data)
    spec = msgspec.convert({"cells": [{"zone": "a"}], "observability": REFERENCE}, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("ns", "c"), spec, Templates({}, {}, {}))
    cluster = msgspec.convert({"metadata": {"name": "c", "namespace": "ns", "uid": "u"}}, ClusterView)
    for _ in range(2):
        missing = await found.missing(cluster, spec, resolved)
        reported = [each.message for each in missing if each.reason == "ConfigMapNotFound"]
        assert bool(reported) is is_missing
        assert all(
            "ConfigMap rules with the key sampling-config.yaml does not exist" in each for each in reported
        )
    assert client.reads <= 1
