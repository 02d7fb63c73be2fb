"""Decisions of `steward switchover`, from Shards and events as the API server has them."""

from typing import Any

import pytest

from steward.cli.primary_switchover import (
    EventMark,
    SwitchError,
    SwitchProgress,
    event_mark,
    late_message,
    observed_primary,
    select_shard,
    shard_label,
    switch_progress,
)

SERVERS = {"pg-0": "Ready", "pg-1": "Ready"}


def shard(
    name: str = "0-inf", primary: str = "pg-0", available: str = "True", **servers: str
) -> dict[str, Any]:
    states = servers or SERVERS
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"databaseName": "postgres", "tableGroupName": "default", "shardName": name},
        "status": {
            "primary": primary,
            "message": "waiting for servers",
            "conditions": [{"type": "Available", "status": available}],
            "servers": [{"pod": pod.replace("_", "-"), "state": state} for pod, state in states.items()],
        },
    }


def event(reason: str, note: str, uid: str = "e", at: str = "10", last: str = "") -> dict[str, Any]:
    series = {"series": {"lastObservedTime": last}} if last else {}
    return {"metadata": {"uid": uid}, "reason": reason, "note": note, "eventTime": at, **series}


def test_the_only_shard_needs_no_label() -> None:
    assert shard_label(select_shard([shard()], "db", "")) == "postgres/default/0-inf"


def test_one_of_several_shards_is_selected_by_its_label() -> None:
    found = select_shard([shard("0-80"), shard("80-inf")], "db", "postgres/default/80-inf")
    assert found["metadata"]["name"] == "80-inf"


@pytest.mark.parametrize(
    ("names", "label", "message"),
    [
        ((), "", "cluster db has no Shard here; `steward tree -A` shows all clusters"),
        (("0-inf",), "a/b/c", "cluster db has no shard a/b/c; it has: postgres/default/0-inf"),
        (
            ("80-inf", "0-80"),
            "",
            "cluster db has 2 shards: pass --shard with one of postgres/default/0-80, postgres/default/80-inf",
        ),
    ],
    ids=["no shard", "unknown label", "several shards"],
)
def test_a_shard_that_cannot_be_selected_is_an_error_that_lists_them(
    names: tuple[str, ...], label: str, message: str
) -> None:
    with pytest.raises(SwitchError) as raised:
        select_shard([shard(name) for name in names], "db", label)
    assert str(raised.value) == message


def test_a_primary_with_another_ready_server_can_be_switched() -> None:
    assert observed_primary(shard(pg_0="NotStreaming", pg_1="Ready", pg_2="Down")) == "pg-0"


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (shard(primary=""), "shard postgres/default/0-inf has no known primary: waiting for servers"),
        (
            shard(pg_0="Ready"),
            "pg-0 is the only server of shard postgres/default/0-inf; raise replicasPerCell of a readWrite pool first",
        ),
        (
            shard(pg_0="Ready", pg_1="Down"),
            "no other server of shard postgres/default/0-inf can take over from pg-0: pg-1 is Down",
        ),
        (
            {**shard(), "status": {}},
            "shard postgres/default/0-inf has no known primary: it has no status yet",
        ),
    ],
    ids=["no primary", "only server", "others not ready", "no status"],
)
def test_a_primary_that_no_server_can_replace_is_not_switched(found: dict[str, Any], message: str) -> None:
    with pytest.raises(SwitchError) as raised:
        observed_primary(found)
    assert str(raised.value) == message


REFUSED = event("PrimarySwitchRefused", "was refused")
REQUESTED = event("PrimarySwitchRequested", "asks multiadmin")


@pytest.mark.parametrize(
    ("found", "events", "progress"),
    [
        (shard(primary="pg-1"), [], SwitchProgress("pg-1")),
        (shard(primary="pg-1"), [REFUSED], SwitchProgress("pg-1")),
        (shard(primary="pg-1", available="False"), [], SwitchProgress()),
        (shard(primary="", available="Unknown"), [REQUESTED], SwitchProgress(requested="asks multiadmin")),
        (shard(), [], SwitchProgress()),
        (shard(), [event("Other", "x")], SwitchProgress()),
        (shard(), [REQUESTED, REFUSED], SwitchProgress("", "was refused", "asks multiadmin")),
        (
            shard(),
            [
                event("PrimarySwitchRefused", "second", "2", "12"),
                event("PrimarySwitchRefused", "first", "1", "11"),
            ],
            SwitchProgress("", "second"),
        ),
    ],
    ids=[
        "done",
        "done after a refusal",
        "takes no writes yet",
        "no primary",
        "nothing",
        "other",
        "refused",
        "newest",
    ],
)
def test_progress_follows_the_status_and_new_events(
    found: dict[str, Any], events: list[dict[str, Any]], progress: SwitchProgress
) -> None:
    assert switch_progress(found, events, "pg-0", frozenset()) == progress


def test_events_of_an_earlier_switch_do_not_count_until_they_are_repeated() -> None:
    old = frozenset([event_mark(REFUSED)])
    assert switch_progress(shard(), [REFUSED], "pg-0", old) == SwitchProgress()
    repeated = event("PrimarySwitchRefused", "was refused", last="20")
    assert event_mark(repeated) == EventMark("e", "20")
    assert switch_progress(shard(), [repeated], "pg-0", old).refused == "was refused"


@pytest.mark.parametrize(
    ("primary", "state"), [("pg-0", "pg-0 is still the primary"), ("", "no new primary takes writes")]
)
def test_a_switch_that_takes_too_long_ends_with_the_message_of_the_operator(primary: str, state: str) -> None:
    assert late_message(shard(primary=primary), "pg-0", 120.0) == (
        f"{state} after 120 s, and the request is withdrawn; the operator reports: waiting for servers"
    )
