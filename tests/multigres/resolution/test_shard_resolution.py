"""Which shards of an earlier resolution are taken over, and which are resolved again."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import ShardEntry
from steward.multigres.api.compute import PvcDeletionPolicy
from steward.multigres.resolution.resolved import KnownTemplates, ShardContext
from steward.multigres.resolution.shard_resolution import resolve_shards

TEMPLATES = KnownTemplates("ShardTemplate", {}, {}, "", "ns")
CONTEXT = ShardContext("c", "d", "g", (), (), TEMPLATES, ["z1"])


def entry(name: str, replicas: int = 1) -> ShardEntry:
    spec = {"pools": {"main": {"replicasPerCell": replicas}}}
    return msgspec.convert({"name": name, "spec": spec}, ShardEntry)


def test_an_unchanged_shard_is_taken_over_wherever_it_is_in_the_list() -> None:
    known = resolve_shards(CONTEXT, [entry("a"), entry("b")], None)
    found = resolve_shards(CONTEXT, [entry("new"), entry("b"), entry("a")], known)
    assert [each.entry.name for each in found.shards] == ["new", "b", "a"]
    assert found.shards[1] is known.shards[1]
    assert found.shards[2] is known.shards[0]


def test_a_changed_shard_is_resolved_again() -> None:
    known = resolve_shards(CONTEXT, [entry("a", 1)], None)
    found = resolve_shards(CONTEXT, [entry("a", 3)], known)
    assert found == resolve_shards(CONTEXT, [entry("a", 3)], None)
    assert found != known


@pytest.mark.parametrize(
    "change",
    [
        {"cells": ["z1", "z2"]},
        {"policies": (PvcDeletionPolicy(when_deleted="Delete"),)},
        {"templates": TEMPLATES._replace(default="other")},
    ],
)
def test_all_shards_are_resolved_again_in_another_context(change: dict[str, Any]) -> None:
    known = resolve_shards(CONTEXT, [entry("a")], None)
    context = CONTEXT._replace(**change)
    assert resolve_shards(context, [entry("a")], known).shards[0] is not known.shards[0]


def test_all_shards_of_a_group_share_one_list_of_cells() -> None:
    known = resolve_shards(CONTEXT, [entry("a")], None)
    found = resolve_shards(CONTEXT._replace(cells=["z1"]), [entry("a"), entry("b")], known)
    pools = [pool for each in found.shards for pool in (each.shard.pools or {}).values()]
    assert len({id(pool.cells) for pool in pools}) == 1
