"""The size of a cluster: what counts, what is admitted, and that a cluster above the limit may change but not grow."""

from typing import Any

import msgspec
import pytest

from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.checks.cluster_size import (
    MAX_COMPONENTS,
    ClusterSize,
    cluster_size,
    least_size,
)
from steward.multigres.resolution.examination import ClusterChange, Examination, examine
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from tests.multigres.support.large_clusters import product_spec, small_shard
from tests.multigres.support.typed_templates import templates

IDENTITY = ClusterIdentity("ns", "mini")
NONE = Templates({}, {}, {})
SMALL_BUT_HUGE = product_spec(49, 4, 8, 50)
STORED = product_spec(14, 4, 8, 16)
"""Above the limit, as an older version of the operator accepted it."""


def typed(spec: dict[str, Any]) -> MultigresClusterSpec:
    return msgspec.convert(spec, MultigresClusterSpec)


def size(spec: dict[str, Any], existing: Templates = NONE) -> ClusterSize:
    return cluster_size(resolve(IDENTITY, typed(spec), existing))


def examined(spec: dict[str, Any], previous: dict[str, Any] | None = None) -> Examination:
    old = None if previous is None else typed(previous)
    return examine(ClusterChange(IDENTITY, old, typed(spec)), NONE)


def test_cells_shards_orchestrators_and_servers_count() -> None:
    group = {"name": "default", "shards": [{"name": "s", **small_shard()}]}
    spec = {
        "cells": [{"name": "a"}, {"name": "b"}],
        "databases": [{"name": "postgres", "tablegroups": [group]}],
    }
    assert size(spec)._replace(texts=0) == ClusterSize(cells=2, shards=1, orchestrators=2, servers=2)


def test_a_stopped_pool_counts_because_it_still_has_its_objects() -> None:
    stopped = {"spec": {"pools": {"main": {"replicasPerCell": 0}}}}
    assert (
        size(product_spec(1, 1, 1, 3, **stopped)).servers
        == size(product_spec(1, 1, 1, 3, **small_shard())).servers
    )


def test_the_text_of_a_template_counts_in_each_shard_that_uses_it() -> None:
    long = {"nodeAffinity": {"key": "x" * 51_200}}
    existing = templates(shard={"default": {"pools": {"main": {"affinity": long}}}})
    grown = size(product_spec(1, 1, 32, 1), existing).texts - size(product_spec(1, 1, 32, 1)).texts
    assert grown >= 32 * 100


def test_shards_that_share_a_template_do_not_multiply_the_work_of_measuring_it() -> None:
    """A megabyte of affinity in each of 640 shards would be 640 MB of JSON if each were encoded."""
    long = {"nodeAffinity": {"key": "x" * 1_000_000}}
    existing = templates(shard={"default": {"pools": {"main": {"affinity": long}}}})
    assert size(product_spec(20, 1, 32, 1), existing).components > MAX_COMPONENTS


@pytest.mark.parametrize("cells", [1, 3, 6])
def test_a_cluster_of_640_shards_is_admitted(cells: int) -> None:
    found = examined(product_spec(20, 1, 32, cells))
    assert found.problems == []


def test_a_small_spec_with_a_huge_product_is_rejected_with_the_numbers_and_the_limit() -> None:
    assert len(msgspec.json.encode(SMALL_BUT_HUGE)) < 40_000
    [problem] = examined(SMALL_BUT_HUGE).problems
    assert problem.field == "spec.databases"
    assert "1,618 shards" in problem.message
    assert "80,900 orchestrators" in problem.message
    assert f"a cluster has at most {MAX_COMPONENTS:,}: use fewer shards" in problem.message


def test_a_cluster_that_is_too_large_is_rejected_before_any_name_is_derived() -> None:
    derived = names.join_name.cache_info().misses
    assert examined(SMALL_BUT_HUGE).problems
    assert names.join_name.cache_info().misses == derived


def test_more_shards_than_any_template_could_admit_are_rejected_without_resolving_them() -> None:
    found = examined(product_spec(50, 20, 32, 1))
    assert found.resolved is None
    assert "32,000 shards" in found.problems[0].message


def test_a_cluster_above_the_limit_may_change_and_shrink() -> None:
    assert size(STORED).components > MAX_COMPONENTS
    changed = {**STORED, "logLevels": {"multigateway": "debug"}}
    assert examined(changed, STORED).problems == []
    assert examined(product_spec(13, 4, 8, 16), STORED).problems == []


def test_a_cluster_above_the_limit_may_not_grow() -> None:
    [problem] = examined(product_spec(15, 4, 8, 16), STORED).problems
    assert "a cluster has at most" in problem.message


@pytest.mark.parametrize("numbers", [(1, 1, 1, 1), (3, 2, 4, 5), (2, 1, 32, 1)])
def test_the_least_size_is_never_above_the_size(numbers: tuple[int, int, int, int]) -> None:
    spec = product_spec(*numbers, **small_shard())
    assert least_size(typed(spec)).components <= size(spec).components
