"""Evictions of server pods: which are held up, and what the Shard controller does about it."""

import pytest

from steward.multigres.api.shard import ServerStatus
from steward.multigres.rollout.node_drain import (
    SWITCH_FROM,
    DrainDecision,
    blocks_eviction,
    decide_drain,
    is_only_server,
)
from steward.multigres.rollout.pods import ShardPods
from steward.multigres.servers.assessment import ServerState
from tests.multigres.support.shard_pods import NEW, knowing, new_pods, pod, pool, shard

ANNOTATED = {SWITCH_FROM: "a-0"}
THREE = shard(pool("a", *new_pods("a", 3)))
DOWN = {"a-1": ServerState.DOWN, "a-2": ServerState.STARTING}


def status(name: str, role: str, state: str = "Ready") -> ServerStatus:
    return ServerStatus(name, state, "2026-01-01T00:00:00Z", role=role)  # type: ignore[arg-type]


PRIMARY, STANDBY = status("a-0", "Primary"), status("a-1", "Standby")


@pytest.mark.parametrize(
    ("servers", "name", "blocked"),
    [
        ([PRIMARY, STANDBY], "a-0", True),
        ([PRIMARY, STANDBY], "a-1", False),
        ([PRIMARY], "a-0", False),
        ([PRIMARY, status("a-1", "Standby", "NotStreaming")], "a-0", False),
        ([status("a-0", "Primary", "Down"), STANDBY], "a-0", False),
        ([status("a-0", "Primary", "Unknown"), STANDBY], "a-0", False),
        ([], "a-0", False),
    ],
    ids=["primary", "standby", "only server", "no other ready", "broken", "unknown", "no status"],
)
def test_only_a_healthy_primary_with_a_healthy_standby_is_held(
    servers: list[ServerStatus], name: str, blocked: bool
) -> None:
    assert blocks_eviction(servers, name) is blocked


def test_the_only_server_of_a_shard_is_recognized() -> None:
    assert is_only_server([PRIMARY], "a-0")
    assert not is_only_server([PRIMARY, STANDBY], "a-0")


@pytest.mark.parametrize(
    ("pods", "annotations", "decision"),
    [
        (THREE, {}, DrainDecision()),
        (THREE, ANNOTATED, DrainDecision("a-0", is_pending=True)),
        (knowing(THREE, primary="a-1"), ANNOTATED, DrainDecision(is_over=True)),
        (knowing(THREE, is_current=False), ANNOTATED, DrainDecision(is_pending=True)),
        (knowing(THREE, primary=None), ANNOTATED, DrainDecision(is_pending=True)),
        (THREE, {SWITCH_FROM: "gone-0"}, DrainDecision(is_over=True)),
        (shard(pool("a", *new_pods("a", 3)), states=DOWN), ANNOTATED, DrainDecision(is_pending=True)),
        (shard(pool("a", *new_pods("a", 2))), ANNOTATED, DrainDecision("a-0", is_pending=True)),
        (shard(pool("a", *new_pods("a", 1))), ANNOTATED, DrainDecision(is_over=True)),
        (
            shard(pool("a", pod("a-0", NEW, terminating=True))),
            ANNOTATED,
            DrainDecision(is_over=True, evicted="a-0"),
        ),
    ],
    ids=[
        "not asked",
        "primary",
        "switched",
        "not observed yet",
        "no primary",
        "pod is gone",
        "no quorum without it",
        "two servers",
        "nobody else can lead",
        "only server",
    ],
)
def test_a_primary_is_switched_until_it_is_none(
    pods: ShardPods, annotations: dict[str, str], decision: DrainDecision
) -> None:
    assert decide_drain(pods, annotations) == decision
