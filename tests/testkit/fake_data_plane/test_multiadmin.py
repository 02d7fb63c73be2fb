"""multiadmin's REST API over the model of a shard."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from steward.testkit.fake_data_plane.faults import DataPlaneFault
from steward.testkit.fake_data_plane.listener import Listener
from steward.testkit.fake_data_plane.multiadmin import Multiadmin
from tests.testkit.support.fake_multiadmin import FakeCluster, QuickClock, get, post
from tests.testkit.support.fake_shard import FakeShard

PATH = "/api/v1/shards/postgres/default/0-inf"


@pytest.fixture
def shard() -> FakeShard:
    found = FakeShard("a1", "b1", "c1")
    found.wait(30.0)
    return found


@pytest.fixture
async def http(shard: FakeShard) -> AsyncIterator[aiohttp.ClientSession]:
    listener = Listener(Multiadmin(FakeCluster(shard), QuickClock()).serve)
    await listener.listen()
    async with aiohttp.ClientSession(f"http://127.0.0.1:{listener.port}") as session:
        yield session
    await listener.close()


def named(name: str) -> dict[str, str]:
    return {"component": "MULTIPOOLER", "cell": name[0], "name": name}


async def test_poolers_are_listed_from_their_records(http: aiohttp.ClientSession) -> None:
    status, answer = await get(http, "/api/v1/poolers")
    assert (status, [pooler["id"] for pooler in answer["poolers"]]) == (
        200,
        [named(n) for n in ("a1", "b1", "c1")],
    )
    assert answer["poolers"][0] == {
        "id": named("a1"),
        "shardKey": {"database": "postgres", "tableGroup": "default", "shard": "0-inf"},
        "type": "PRIMARY",
        "hostname": "a1.pools",
        "portMap": {"grpc": 15270},
        "lifecycleStatus": {"status": "LIFECYCLE_ACTIVE", "reason": "pooler active"},
        "routingState": {"role": "ROUTING_ROLE_PRIMARY", "rule": {"coordinatorTerm": "1"}},
    }
    assert answer["poolers"][1]["routingState"] == {"role": "ROUTING_ROLE_REPLICA"}


async def test_poolers_are_filtered_by_cell_and_database_but_not_by_shard(
    http: aiohttp.ClientSession,
) -> None:
    _, answer = await get(http, "/api/v1/poolers?cells=a,b&database=postgres")
    assert [pooler["id"]["name"] for pooler in answer["poolers"]] == ["a1", "b1"]
    assert (await get(http, "/api/v1/poolers?database=other"))[1] == {}
    status, answer = await get(http, "/api/v1/poolers?shard=0-inf")
    assert (status, answer["code"]) == (500, 2)


async def test_a_primary_reports_its_followers_and_the_rule(http: aiohttp.ClientSession) -> None:
    status, answer = await get(http, "/api/v1/poolers/a/a1/status")
    reported, consensus = answer["status"], answer["consensusStatus"]
    assert (status, reported["postgresReady"], reported["postgresStatus"]) == (
        200,
        True,
        "POSTGRES_STATUS_PRIMARY",
    )
    assert reported["primaryStatus"]["connectedFollowers"] == [named("b1"), named("c1")]
    assert reported["primaryStatus"]["syncReplicationConfig"]["numSync"] == 1
    assert consensus["currentPosition"]["position"]["decision"] == {
        "ruleNumber": {"coordinatorTerm": "1"},
        "leaderId": named("a1"),
        "cohortMembers": [named("a1"), named("b1"), named("c1")],
        "durabilityPolicy": {
            "policyName": "AT_LEAST_2",
            "quorumType": "QUORUM_TYPE_AT_LEAST_N",
            "requiredCount": 2,
        },
    }


async def test_a_standby_reports_whether_it_streams(shard: FakeShard, http: aiohttp.ClientSession) -> None:
    shard.set_faults("c1", DataPlaneFault.NEVER_STREAMS)
    shard.wait(1.0)
    streaming, other = [
        (await get(http, f"/api/v1/poolers/{n[0]}/{n}/status"))[1]["status"] for n in ("b1", "c1")
    ]
    assert streaming["replicationStatus"]["walReceiverStatus"] == "streaming"
    assert streaming["postgresStatus"] == other["postgresStatus"] == "POSTGRES_STATUS_STANDBY"
    assert "walReceiverStatus" not in other["replicationStatus"]
    assert "lastMsgReceiveTime" not in other["replicationStatus"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (DataPlaneFault.POSTGRES_DOWN, {}),
        (DataPlaneFault.QUARANTINED, {}),
        (
            DataPlaneFault.SLOW_POSTGRES,
            {
                "postgresRunning": True,
                "postgresStatus": "POSTGRES_STATUS_STARTING",
                "postgresAction": "POSTGRES_ACTION_STARTING",
                "postgresActionDuration": "1s",
            },
        ),
    ],
)
async def test_a_postgres_that_is_not_ready_has_no_fields_that_say_so(
    shard: FakeShard, http: aiohttp.ClientSession, fault: DataPlaneFault, expected: dict[str, Any]
) -> None:
    shard.set_faults("b1", fault)
    shard.wait(1.0)
    _, answer = await get(http, "/api/v1/poolers/b/b1/status")
    always = {"poolerType": "REPLICA", "isInitialized": True, "hasDataDirectory": True, "shardId": "0-inf"}
    assert answer["status"] == {**always, **expected}


async def test_a_pooler_without_a_record_is_not_found(http: aiohttp.ClientSession) -> None:
    status, answer = await get(http, "/api/v1/poolers/a/a9/status")
    assert (status, answer) == (404, {"code": 5, "message": "pooler 'a/a9' not found", "details": []})


async def test_a_pooler_that_does_not_run_is_unavailable(
    shard: FakeShard, http: aiohttp.ClientSession
) -> None:
    shard.shut_down("b1")
    status, answer = await get(http, "/api/v1/poolers/b/b1/status")
    assert (status, answer["code"]) == (503, 14)
    assert "no route to host" in answer["message"]


async def test_the_first_call_after_a_pod_was_replaced_fails(
    shard: FakeShard, http: aiohttp.ClientSession
) -> None:
    assert (await get(http, "/api/v1/poolers/b/b1/status"))[0] == 200
    shard.start("b1")
    shard.wait(1.0)
    assert [(await get(http, "/api/v1/poolers/b/b1/status"))[0] for _ in range(2)] == [503, 200]


async def test_a_switch_returns_before_there_is_another_primary(
    shard: FakeShard, http: aiohttp.ClientSession
) -> None:
    assert await post(http, f"{PATH}/switch-primary", {"reason": "test"}) == (
        200,
        {"oldLeaderId": named("a1")},
    )
    assert shard.primary == ""
    shard.wait(30.0)
    assert shard.primary == "b1"


@pytest.mark.parametrize(
    ("path", "prepare", "expected"),
    [
        (
            PATH.replace("postgres", "other"),
            lambda shard: None,
            (404, 5, "no poolers found for shard other/default/0-inf"),
        ),
        (
            PATH,
            lambda shard: shard.set_faults("a1", DataPlaneFault.POSTGRES_DOWN),
            (404, 5, "no PRIMARY pooler found for shard postgres/default/0-inf"),
        ),
        (
            PATH,
            lambda shard: [shard.delete_record(name) for name in ("b1", "c1")],
            (400, 9, "no standby poolers available for promotion"),
        ),
        (
            PATH,
            lambda shard: setattr(shard, "faults", frozenset({DataPlaneFault.SWITCH_REFUSED})),
            (500, 13, "ResignLeadership failed: the pooler does not lead"),
        ),
    ],
    ids=["another shard", "no primary", "no other server", "switch-refused"],
)
async def test_a_switch_that_is_impossible_is_refused(
    shard: FakeShard, http: aiohttp.ClientSession, path: str, prepare: Any, expected: tuple[int, int, str]
) -> None:
    prepare(shard)
    shard.wait(0.0)
    status, answer = await post(http, f"{path}/switch-primary", {})
    assert (status, answer["code"], answer["message"]) == expected


FORCED = {
    "leader_id": named("b1"),
    "cohort_members": [named("b1"), named("c1")],
    "durability_policy": {"quorum_type": "QUORUM_TYPE_AT_LEAST_N", "required_count": 2},
}


async def test_a_forced_rule_gives_a_shard_without_quorum_a_primary(
    shard: FakeShard, http: aiohttp.ClientSession
) -> None:
    shard.start("d1")
    shard.wait(30.0)
    shard.shut_down("a1")
    shard.shut_down("d1")
    shard.wait(30.0)
    assert shard.primary == ""
    body = {"proposed_transition": {"proposal": FORCED}, "unsafe_derive_cert": {}, "reason": "test"}
    status, answer = await post(http, f"{PATH}/rule-change", body)
    assert (status, answer["installedRule"]["leaderId"]) == (200, named("b1"))
    shard.wait(30.0)
    assert (shard.primary, shard.cohort, shard.view.takes_writes) == ("b1", {"b1", "c1"}, True)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({}, 3, "proposed_transition.proposal is required"),
        (
            {"proposedTransition": {"proposal": FORCED}},
            3,
            "exactly one of cert or unsafe_derive_cert must be set",
        ),
        (
            {
                "proposed_transition": {"proposal": {**FORCED, "cohort_members": [named("z9")]}},
                "unsafe_derive_cert": {},
            },
            5,
            "pooler z_z9 not found in topology",
        ),
    ],
)
async def test_an_incomplete_forced_rule_is_rejected(
    http: aiohttp.ClientSession, body: object, code: int, message: str
) -> None:
    _, answer = await post(http, f"{PATH}/rule-change", body)
    assert (answer["code"], answer["message"]) == (code, message)


async def test_a_body_without_a_content_type_is_rejected(http: aiohttp.ClientSession) -> None:
    async with http.post(f"{PATH}/switch-primary", data=b"{}") as response:
        assert response.status == 415


async def test_another_path_is_not_found(http: aiohttp.ClientSession) -> None:
    assert (await get(http, "/api/v1/other"))[0] == 404
