"""Which servers `steward restart` asks for, and when they have restarted."""

from typing import Any

import pytest

from steward.cli.operations.outcome import RequestError
from steward.cli.operations.server_restarts import ServerRestart, restart_progress, select_restarts

AT = "2026-01-01T00:00:00Z"


def shard(name: str = "0-inf", rolling: str = "", **pools: int) -> dict[str, Any]:
    spec = {
        "databaseName": "postgres",
        "tableGroupName": "default",
        "shardName": name,
        "pools": {
            pool: {"replicasPerCell": size, "cells": ["z1"]} for pool, size in (pools or {"main": 2}).items()
        },
    }
    is_rolling = "False" if rolling in ("", "PodsUpToDate") else "True"
    condition = {"type": "RollingUpdate", "status": is_rolling, "reason": rolling, "message": f"is {rolling}"}
    meta = {"name": f"db-{name}", "namespace": "shop", "resourceVersion": "5"}
    return {"metadata": meta, "spec": spec, "status": {"conditions": [condition]}}


def pod(restarted_at: str, pool: str = "main", ready: str = "True", shard: str = "0-inf") -> dict[str, Any]:
    labels = {
        "multigres.com/database": "postgres",
        "multigres.com/tablegroup": "default",
        "multigres.com/shard": shard,
        "multigres.com/pool": pool,
    }
    annotations = {"multigres.com/restarted-at": restarted_at} if restarted_at else {}
    return {
        "metadata": {"labels": labels, "annotations": annotations},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def test_without_a_name_every_pool_of_every_shard_is_restarted() -> None:
    found = select_restarts([shard("0-80"), shard("80-inf", main=1, spare=1)], "", "", AT)
    assert [each.describe() for each in found] == [
        "2 servers of pool main of shard postgres/default/0-80",
        "2 servers of pools main, spare of shard postgres/default/80-inf",
    ]


def test_a_pool_and_a_shard_limit_the_restart() -> None:
    shards = [shard("0-80"), shard("80-inf", main=1, spare=1)]
    (found,) = select_restarts(shards, "postgres/default/80-inf", "spare", AT)
    assert found.pools == ("spare",)
    assert found.patch().changes["metadata"] == {
        "resourceVersion": "5",
        "annotations": {"restart.multigres.com/spare": AT},
    }


@pytest.mark.parametrize(
    ("label", "pool", "message"),
    [
        ("a/b/c", "", "there is no shard a/b/c here; there are: postgres/default/0-inf"),
        ("", "spare", "no pool spare with servers; there are: main"),
    ],
)
def test_a_part_that_does_not_exist_is_an_error_that_lists_those_that_do(
    label: str, pool: str, message: str
) -> None:
    with pytest.raises(RequestError) as raised:
        select_restarts([shard()], label, pool, AT)
    assert str(raised.value) == message


def test_pools_without_servers_have_nothing_to_restart() -> None:
    with pytest.raises(RequestError, match="no pool has servers"):
        select_restarts([shard(main=0)], "", "", AT)


RESTART = ServerRestart(shard(), ("main",), AT)


@pytest.mark.parametrize(
    ("pods", "rolling"),
    [
        ((pod(AT), pod("")), "PodsUpToDate"),
        ((pod(AT), pod("an earlier restart")), "Rolling"),
        ((pod(AT), pod(AT, ready="False")), "PodsUpToDate"),
        ((pod(AT),), "PodsUpToDate"),
        ((pod(AT), pod(AT)), "Rolling"),
    ],
    ids=["one is old", "one is of an earlier restart", "one is not ready", "one is away", "it still rolls"],
)
def test_a_restart_goes_on_until_every_server_is_new_and_ready(
    pods: tuple[dict[str, Any], ...], rolling: str
) -> None:
    assert not restart_progress(RESTART, shard(rolling=rolling), pods).is_done


def test_a_restart_is_done_when_every_server_of_its_pools_is_new_and_ready() -> None:
    others = [pod("", pool="spare"), pod("", shard="80-inf")]
    progress = restart_progress(RESTART, shard(rolling="PodsUpToDate"), [pod(AT), pod(AT), *others])
    assert progress.is_done


def test_a_rollout_that_the_operator_has_stopped_is_not_waited_for() -> None:
    progress = restart_progress(RESTART, shard(rolling="RolloutStopped"), [pod(AT), pod("")])
    assert progress.stopped == "is RolloutStopped"
