"""The defaulting webhook annotates a cluster with its trace only if the spec changes."""

from typing import Any

import msgspec
import pytest

from steward.admission.review import Allowed, Review, decode_review
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.webhooks import MultigresWebhooks
from steward.runtime.observability import tracing

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SPEC = {"cells": [{"zone": "z1"}]}


class NoTemplates:
    def get(self, key: object) -> None:
        return None


def webhooks() -> MultigresWebhooks:
    stores: Any = dict.fromkeys((CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE), NoTemplates())
    nothing: Any = None
    return MultigresWebhooks(nothing, nothing, stores, nothing)


def review(spec: dict[str, Any], old: dict[str, Any] | None = None) -> Review:
    def cluster(content: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": "mini", "namespace": "shop"}, "spec": content}

    request = {
        "uid": "1",
        "kind": {"group": "multigres.com", "version": "v1alpha1", "kind": "MultigresCluster"},
        "resource": {"group": "multigres.com", "version": "v1alpha1", "resource": "multigresclusters"},
        "name": "mini",
        "namespace": "shop",
        "operation": "CREATE" if old is None else "UPDATE",
        "userInfo": {"username": "user"},
        "object": cluster(spec),
        "oldObject": None if old is None else cluster(old),
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return decode_review(msgspec.json.encode(body))


async def defaulted(asked: Review) -> dict[str, Any]:
    verdict = await webhooks().default_cluster(asked)
    assert isinstance(verdict, Allowed)
    assert verdict.object is not None
    return dict(verdict.object)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "is_enabled", lambda: True)
    monkeypatch.setattr(tracing, "headers", lambda: {"traceparent": TRACE})


async def test_a_new_cluster_carries_the_trace_and_its_time(traced: None) -> None:
    annotations = (await defaulted(review(SPEC)))["metadata"]["annotations"]
    assert annotations["multigres.com/traceparent"] == TRACE
    assert annotations["multigres.com/traceparent-ts"].isdecimal()


async def test_an_update_without_a_new_spec_carries_no_trace(traced: None) -> None:
    written = (await defaulted(review(SPEC)))["spec"]
    assert "annotations" not in (await defaulted(review(written, written)))["metadata"]


async def test_an_update_of_the_spec_carries_the_trace(traced: None) -> None:
    written = (await defaulted(review(SPEC)))["spec"]
    changed = {**written, "durabilityPolicy": "MULTI_CELL_AT_LEAST_2"}
    assert (
        "multigres.com/traceparent" in (await defaulted(review(changed, written)))["metadata"]["annotations"]
    )


async def test_without_tracing_nothing_is_written() -> None:
    assert "annotations" not in (await defaulted(review(SPEC)))["metadata"]
