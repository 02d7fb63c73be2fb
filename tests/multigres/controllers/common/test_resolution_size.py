"""The limit on the size of a cluster in the reconcilers, for clusters that no webhook has checked."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.bounded_cache import LruCache
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.multigres import reasons
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.resolution import SpecResolver
from steward.multigres.resolution.checks.cluster_size import MAX_COMPONENTS
from steward.multigres.views import ClusterView
from tests.multigres.support.large_clusters import product_spec

TOO_LARGE = product_spec(14, 4, 8, 16)


@pytest.fixture
def resolver() -> SpecResolver:
    context = SimpleNamespace(
        rules=MultigresCacheRules(""),
        store=Store,
        clock=SystemClock(),
        resolved_specs=LruCache(4),
        large_resolutions=asyncio.Lock(),
        cluster_specs=ClusterSpecs(),
    )
    return SpecResolver(cast(MultigresContext, context))


def cluster(spec: dict[str, Any], generation: int = 2, **status: Any) -> ClusterView:
    metadata = {
        "name": "mini",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "1",
        "generation": generation,
    }
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, ClusterView)


async def test_a_new_cluster_that_is_too_large_is_stalled_with_the_limit(resolver: SpecResolver) -> None:
    found = await resolver.resolve(cluster(TOO_LARGE))
    assert found.resolved is None
    assert found.stall is not None
    assert found.stall.reason == reasons.INVALID_SPEC
    assert f"at most {MAX_COMPONENTS:,}" in found.stall.message


async def test_a_cluster_with_too_many_shards_is_stalled_without_being_resolved(
    resolver: SpecResolver,
) -> None:
    found = await resolver.resolve(cluster(product_spec(50, 20, 32, 1)))
    assert found.decision is None
    assert found.stall is not None
    assert "32,000 shards" in found.stall.message


async def test_a_cluster_of_an_older_version_is_handled_at_any_size(resolver: SpecResolver) -> None:
    found = await resolver.resolve(cluster(TOO_LARGE, databases={"d0": {"totalShards": 32}}))
    assert found.stall is None
    assert found.components > MAX_COMPONENTS


async def test_a_cluster_keeps_the_size_that_was_accepted_and_cannot_grow_beyond_it(
    resolver: SpecResolver,
) -> None:
    accepted = (await resolver.resolve(cluster(TOO_LARGE, databases={}))).components
    again = await resolver.resolve(cluster(TOO_LARGE, databases={}, components=accepted))
    larger = cluster(product_spec(15, 4, 8, 16), 3, databases={}, components=accepted)
    grown = await resolver.resolve(larger)
    assert again.stall is None
    assert grown.stall is not None


async def test_a_cluster_that_was_stalled_for_its_size_stays_stalled(resolver: SpecResolver) -> None:
    conditions = [
        {
            "type": "Stalled",
            "status": "True",
            "reason": "InvalidSpec",
            "message": "",
            "lastTransitionTime": "",
        }
    ]
    found = await resolver.resolve(cluster(TOO_LARGE, observedGeneration=2, conditions=conditions))
    assert found.stall is not None


async def test_a_cluster_within_the_limit_reports_its_size(resolver: SpecResolver) -> None:
    found = await resolver.resolve(cluster({"cells": [{"name": "a"}]}))
    assert found.stall is None
    assert 4 <= found.components <= 10


async def test_a_spec_that_one_controller_has_resolved_is_not_resolved_again(resolver: SpecResolver) -> None:
    context = SimpleNamespace(
        rules=MultigresCacheRules(""),
        store=Store,
        clock=SystemClock(),
        resolved_specs=resolver._cache,
        large_resolutions=asyncio.Lock(),
        cluster_specs=ClusterSpecs(),
    )
    view = cluster({"cells": [{"zone": "z1"}]})
    first = await resolver.resolve(view)
    assert await SpecResolver(cast(MultigresContext, context)).resolve(view) is first


async def test_controllers_that_resolve_a_large_cluster_at_the_same_time_share_one_result(
    resolver: SpecResolver,
) -> None:
    large = cluster(product_spec(2, 4, 32, 2))
    first, second = await asyncio.gather(resolver.resolve(large), resolver.resolve(large))
    assert first.resolved is not None
    assert second is first
