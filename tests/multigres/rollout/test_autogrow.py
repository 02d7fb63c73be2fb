"""Which volumes grow, from claims and the sizes that servers report."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.compute import PoolStorage
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.unset import or_default
from steward.multigres.rollout.autogrow import decide_growth, with_grown_volumes
from steward.multigres.views import ClaimView

GIBIBYTE = 1024**3
STORAGE = {"size": "10Gi", "autogrow": {"max": "20Gi"}}


def claim(
    number: int, size: str = "10Gi", capacity: str = "", pool: str = "main", phase: str = "Bound"
) -> ClaimView:
    metadata = {"name": f"pgdata-s-{number}", "uid": "u", "labels": {"multigres.com/pool": pool}}
    spec = {"resources": {"requests": {"storage": size}}}
    status = {"phase": phase, "capacity": {"storage": capacity or size} if phase == "Bound" else {}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, ClaimView)


def spec(**storage: Any) -> ShardSpec:
    pools = {"main": {"storage": {**STORAGE, **storage}}, "other": {"storage": {"size": "1Gi"}}}
    return msgspec.convert({"shardName": "0-inf", "pools": pools}, ShardSpec)


def sizes(found: ShardSpec) -> dict[str, Any]:
    pools = or_default(found.pools, {})
    return {name: or_default(pool.storage, PoolStorage()).size for name, pool in pools.items()}


def decide(claims: list[ClaimView], used: dict[str, int]) -> Any:
    return decide_growth("main", msgspec.convert(STORAGE, PoolStorage), claims, used)


def test_one_full_volume_lets_all_of_its_pool_grow() -> None:
    growth = decide([claim(0), claim(1)], {"s-0": GIBIBYTE, "s-1": 9 * GIBIBYTE})
    assert (growth.pool, growth.size, growth.is_limited) == ("main", "12Gi", False)
    assert growth.message == "volumes of pool main grow from 10Gi to 12Gi: pgdata-s-1 is 90% full"


@pytest.mark.parametrize(
    ("claims", "used"),
    [
        ([claim(0)], {"s-0": 5 * GIBIBYTE}),
        ([claim(0)], {}),
        ([claim(0, pool="other")], {"s-0": 9 * GIBIBYTE}),
        ([claim(0, size="12Gi", capacity="10Gi")], {"s-0": 9 * GIBIBYTE}),
    ],
    ids=["half-full", "unknown", "another-pool", "already-growing"],
)
def test_other_volumes_do_not_grow(claims: list[ClaimView], used: dict[str, int]) -> None:
    assert decide(claims, used) is None


def test_a_claim_that_is_not_bound_yet_keeps_none_from_growing() -> None:
    growth = decide([claim(0), claim(1, phase="Pending")], {"s-0": 9 * GIBIBYTE})
    assert growth.size == "12Gi"


def test_a_full_volume_of_the_largest_size_is_reported() -> None:
    growth = decide([claim(0, size="20Gi")], {"s-0": 19 * GIBIBYTE})
    assert growth.is_limited
    assert "raise storage.autogrow.max" in growth.message


def test_the_size_that_a_claim_has_reached_applies_to_the_whole_pool() -> None:
    found = with_grown_volumes(spec(), [claim(0, size="14Gi"), claim(1)], {})
    assert sizes(found) == {"main": "14Gi", "other": "1Gi"}


def test_a_decision_applies_before_any_claim_has_grown() -> None:
    assert sizes(with_grown_volumes(spec(), [claim(0)], {"main": "12Gi"}))["main"] == "12Gi"


def test_a_larger_size_in_the_spec_wins() -> None:
    assert sizes(with_grown_volumes(spec(size="18Gi"), [claim(0)], {"main": "12Gi"}))["main"] == "18Gi"


def test_without_a_rule_the_spec_is_unchanged() -> None:
    unchanged = msgspec.convert(
        {"shardName": "0-inf", "pools": {"main": {"storage": {"size": "1Gi"}}}}, ShardSpec
    )
    assert with_grown_volumes(unchanged, [claim(0, size="14Gi")], {}) is unchanged
