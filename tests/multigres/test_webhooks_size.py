"""Admission of clusters whose lists multiply: what is denied, and that a review never blocks the event loop."""

import json
import threading
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

import steward.multigres.webhooks as webhooks_module
from steward.admission.review import Allowed, Denied, Operation, Review, ReviewedKind
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind
from steward.multigres.cache_rules import (
    CELL_TEMPLATE,
    CLUSTER,
    CORE_TEMPLATE,
    SHARD_TEMPLATE,
    MultigresCacheRules,
)
from steward.multigres.resolution.checks.bounded_lists import SHOWN
from steward.multigres.resolution.checks.cluster_size import LARGE_OBJECT_BYTES
from steward.multigres.webhooks import MultigresWebhooks
from tests.multigres.support.large_clusters import product_spec

LARGE = product_spec(20, 1, 32, 6)
TOO_LARGE = product_spec(49, 4, 8, 50)
FOUR_POOLS = {"pools": {name: {"replicasPerCell": 1} for name in ("a", "b", "c", "d")}}


@pytest.fixture
def clusters() -> Store[Any]:
    return Store(MultigresCacheRules("").cluster)


@pytest.fixture
def webhooks(clusters: Store[Any]) -> MultigresWebhooks:
    rules = MultigresCacheRules("")
    templates: dict[Kind, Store[Any]] = {
        CORE_TEMPLATE: Store(rules.core_template),
        CELL_TEMPLATE: Store(rules.cell_template),
        SHARD_TEMPLATE: Store(rules.shard_template),
    }
    return MultigresWebhooks(cast(Client, None), clusters, templates, no_warnings)


async def no_warnings(_: object) -> list[str]:
    return []


def review(spec: Any, old: Any = None, kind: str = "MultigresCluster") -> Review:
    def manifest(content: Any) -> msgspec.Raw:
        meta = {"name": "default", "namespace": "ns"}
        return msgspec.Raw(msgspec.json.encode(content and {"metadata": meta, "spec": content}))

    return Review(
        "1",
        Operation.CREATE if old is None else Operation.UPDATE,
        kind=ReviewedKind("multigres.com", "v1alpha1", kind),
        name="default",
        namespace="ns",
        raw_object=manifest(spec),
        raw_old_object=manifest(old),
    )


def store(clusters: Store[Any], spec: Any) -> None:
    metadata = {"name": "mini", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    manifest = {"apiVersion": CLUSTER.api_version, "kind": CLUSTER.kind, "metadata": metadata, "spec": spec}
    clusters.observe_write(json.dumps(manifest).encode())


@pytest.fixture
def reviewing_threads(monkeypatch: pytest.MonkeyPatch) -> set[threading.Thread]:
    """The threads in which clusters are resolved and validated."""
    found: set[threading.Thread] = set()

    def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            found.add(threading.current_thread())
            return function(*arguments)

        return call

    for function in (webhooks_module.examine, webhooks_module.resolve):
        monkeypatch.setattr(webhooks_module, function.__name__, recorded(function))
    return found


async def test_a_cluster_that_is_too_large_is_denied_with_its_size_and_the_limit(
    webhooks: MultigresWebhooks,
) -> None:
    response = await webhooks.validate_cluster(review(TOO_LARGE))
    assert isinstance(response, Denied)
    assert "spec.databases: 344," in response.message
    assert "a cluster has at most 20,000" in response.message


async def test_a_cluster_that_is_too_large_gets_no_defaults(webhooks: MultigresWebhooks) -> None:
    assert await webhooks.default_cluster(review(product_spec(50, 20, 32, 1))) == Allowed()


async def test_lists_longer_than_the_schema_allows_get_no_defaults(webhooks: MultigresWebhooks) -> None:
    """The API server checks the schema after this webhook."""
    assert await webhooks.default_cluster(review(product_spec(1, 1, 50_000, 1))) == Allowed()


async def test_a_stored_cluster_that_is_too_large_still_gets_defaults(webhooks: MultigresWebhooks) -> None:
    stored = product_spec(50, 20, 10, 1)
    response = await webhooks.default_cluster(review({**stored, "durabilityPolicy": "AT_LEAST_2"}, stored))
    assert isinstance(response, Allowed)
    assert response.object is not None
    assert response.object["spec"]["logLevels"]


async def test_a_large_cluster_is_not_reviewed_in_the_event_loop(
    webhooks: MultigresWebhooks, reviewing_threads: set[threading.Thread]
) -> None:
    assert isinstance(await webhooks.validate_cluster(review(LARGE)), Allowed)
    assert reviewing_threads
    assert threading.current_thread() not in reviewing_threads


async def test_a_template_of_a_large_cluster_is_not_reviewed_in_the_event_loop(
    webhooks: MultigresWebhooks, clusters: Store[Any], reviewing_threads: set[threading.Thread]
) -> None:
    store(clusters, product_spec(20, 1, 32, 3))
    await webhooks.validate_template(review({"pools": {}}, kind="ShardTemplate"))
    assert reviewing_threads
    assert threading.current_thread() not in reviewing_threads


async def test_a_template_that_makes_a_cluster_too_large_is_denied(
    webhooks: MultigresWebhooks, clusters: Store[Any]
) -> None:
    store(clusters, {**product_spec(20, 1, 32, 6), "templateDefaults": {"shardTemplate": "default"}})
    small = {"pools": {"a": {"replicasPerCell": 1}}}
    webhooks._templates[SHARD_TEMPLATE].observe_write(template(small))
    response = await webhooks.validate_template(review(FOUR_POOLS, small, kind="ShardTemplate"))
    assert isinstance(response, Denied)
    assert "would break MultigresCluster mini: spec.databases: " in response.message


def template(spec: Any) -> bytes:
    metadata = {"name": "default", "namespace": "ns", "uid": "t", "resourceVersion": "1"}
    kind = {"apiVersion": SHARD_TEMPLATE.api_version, "kind": SHARD_TEMPLATE.kind}
    return json.dumps({**kind, "metadata": metadata, "spec": spec}).encode()


async def test_problems_of_many_shards_are_a_bounded_message(webhooks: MultigresWebhooks) -> None:
    wrong = {"spec": {"pools": {"main": {"cells": ["nowhere"]}}}}
    response = await webhooks.validate_cluster(review(product_spec(20, 1, 32, 1, **wrong)))
    assert isinstance(response, Denied)
    assert len(response.causes) == SHOWN
    assert response.message.count("nowhere") == SHOWN
    assert response.message.endswith("more problems")


async def test_warnings_about_many_shards_are_bounded(webhooks: MultigresWebhooks) -> None:
    response = await webhooks.validate_cluster(review(product_spec(20, 1, 32, 3)))
    assert isinstance(response, Allowed)
    assert len(response.warnings) == SHOWN + 1
    assert response.warnings[-1].endswith("more warnings")


async def test_a_cluster_that_comes_near_the_limit_of_etcd_gets_a_warning(
    webhooks: MultigresWebhooks,
) -> None:
    annotated = {"spec": {"pools": {"main": {"affinity": {"note": "x" * 1_800}}}}}
    large = review(product_spec(20, 1, 32, 1, **annotated))
    assert len(bytes(large.raw_object)) > LARGE_OBJECT_BYTES
    response = await webhooks.validate_cluster(large)
    assert isinstance(response, Allowed)
    assert "etcd stores at most 1,536" in response.warnings[0]


async def test_a_cluster_of_many_shards_that_use_a_template_gets_no_warning_of_its_size(
    webhooks: MultigresWebhooks,
) -> None:
    response = await webhooks.validate_cluster(review(product_spec(20, 1, 32, 3)))
    assert not [warning for warning in response.warnings if "etcd stores at most" in warning]
