"""A change of a spec that leaves a shard too few servers for its durability policy is refused."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.durability import lost_durability
from steward.multigres.resolution.examination import ClusterChange, examine
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates

NONE = Templates({}, {}, {})
IDENTITY = ClusterIdentity("ns", "c")
TWO_CELLS = [{"zone": "a"}, {"zone": "b"}]
MULTI_CELL = {"durabilityPolicy": "MULTI_CELL_AT_LEAST_2"}


def typed(**manifest: Any) -> MultigresClusterSpec:
    return msgspec.convert(manifest, MultigresClusterSpec)


def spec(cells: list[dict[str, Any]] | None = None, **pools: Any) -> dict[str, Any]:
    shards = [{"name": "0-inf", "spec": {"pools": pools}}]
    group = {"name": "default", "default": True, "shards": shards}
    databases = [{"name": "postgres", "default": True, "tablegroups": [group]}]
    return {"cells": cells or TWO_CELLS, "databases": databases}


def pool_of(replicas: int, *cells: str) -> dict[str, Any]:
    return {"replicasPerCell": replicas, "cells": list(cells or ("a", "b"))}


def resolved(manifest: dict[str, Any]) -> ResolvedCluster:
    return resolve(IDENTITY, typed(**manifest), NONE)


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (spec(main=pool_of(3, "a")), spec(main=pool_of(2, "a")), False),
        (spec(main=pool_of(3, "a")), spec(main=pool_of(1, "a")), True),
        (spec(main=pool_of(3, "a")), spec(main=pool_of(0, "a")), False),
        (spec(main=pool_of(1, "a"), more=pool_of(1, "b")), spec(main=pool_of(1, "a")), True),
        (spec(main=pool_of(2, "a"), more=pool_of(1, "b")), spec(main=pool_of(2, "a")), False),
        (spec(main=pool_of(1)), spec([{"zone": "a"}], main=pool_of(1, "a")), True),
        (spec(main=pool_of(1, "a")), spec(more=pool_of(1, "a")), False),
        (spec(main=pool_of(2)) | MULTI_CELL, spec(main=pool_of(2, "a")) | MULTI_CELL, True),
        (spec(main=pool_of(2)) | MULTI_CELL, spec(main=pool_of(1)) | MULTI_CELL, False),
        (
            spec(main=pool_of(1)) | MULTI_CELL,
            spec(main=pool_of(1, "a"), more=pool_of(0, "b")) | MULTI_CELL,
            True,
        ),
    ],
    ids=[
        "enough is left",
        "one is left",
        "stopped",
        "pool removed",
        "pool removed, enough is left",
        "cell removed",
        "never enough",
        "one cell is left",
        "one server in each cell",
        "a pool without servers is no cell",
    ],
)
def test_too_few_servers_are_refused_if_there_were_enough(
    before: dict[str, Any], after: dict[str, Any], refused: bool
) -> None:
    assert bool(list(lost_durability(resolved(before), resolved(after)))) is refused


def test_the_message_names_the_shard_the_policy_and_the_cure() -> None:
    [problem] = lost_durability(resolved(spec(main=pool_of(3, "a"))), resolved(spec(main=pool_of(1, "a"))))
    assert problem.field == "spec.databases[postgres].tablegroups[default].shards[0-inf]"
    assert problem.message == (
        "1 server in 1 cell would be left, and AT_LEAST_2 needs 2 servers: no write would be acknowledged;"
        " keep more servers, or set replicasPerCell of all pools to 0 to stop the shard"
    )


@pytest.mark.parametrize(("forced", "count"), [(False, 1), (True, 0)])
def test_a_forced_change_is_not_refused(forced: bool, count: int) -> None:
    change = ClusterChange(
        IDENTITY, typed(**spec(main=pool_of(3, "a"))), typed(**spec(main=pool_of(1, "a"))), forced
    )
    assert len(examine(change, NONE).problems) == count
