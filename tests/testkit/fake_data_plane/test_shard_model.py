"""The servers of a shard over time, without a control plane."""

import math

import pytest

from steward.testkit.fake_data_plane.faults import DataPlaneFault
from steward.testkit.fake_data_plane.rule import DurabilityPolicy
from steward.testkit.fake_data_plane.shard_model import install_rule, resign
from tests.testkit.support.fake_shard import AT_LEAST_2, FakeShard, server

SETTLED = 30.0
CELLS = DurabilityPolicy(2, counts_cells=True)


def settled(*names: str, policy: DurabilityPolicy = AT_LEAST_2) -> FakeShard:
    shard = FakeShard(*names, policy=policy)
    shard.wait(SETTLED)
    return shard


def test_a_shard_starts_with_postgres_then_a_primary_then_streaming_standbys() -> None:
    shard = FakeShard("a1", "b1", "c1")
    shard.wait(1.5)
    assert (shard.view.ready_servers(), shard.primary) == (frozenset(), "")
    shard.wait(0.5)
    assert (shard.primary, shard.streaming, shard.view.takes_writes) == ("a1", set(), False)
    shard.wait(1.0)
    assert (shard.streaming, shard.view.takes_writes, shard.cohort) == (
        {"b1", "c1"},
        True,
        {"a1", "b1", "c1"},
    )
    assert shard.view.next_change() == math.inf


@pytest.mark.parametrize(
    ("names", "policy"),
    [(["a1"], AT_LEAST_2), (["a1", "a2"], CELLS)],
    ids=["one server", "one cell"],
)
def test_servers_that_do_not_meet_the_policy_elect_no_primary(
    names: list[str], policy: DurabilityPolicy
) -> None:
    assert settled(*names, policy=policy).primary == ""


def test_a_new_server_joins_the_cohort_when_it_streams() -> None:
    shard = settled("a1", "b1")
    shard.start("c1")
    shard.wait(2.5)
    assert shard.cohort == {"a1", "b1"}
    shard.wait(0.5)
    assert shard.cohort == {"a1", "b1", "c1"}
    shard.start("d1", DataPlaneFault.NEVER_STREAMS)
    shard.wait(SETTLED)
    assert (server("d1") in shard.view.ready_servers(), "d1" in shard.cohort) == (True, False)


def test_a_server_that_shuts_down_leaves_the_cohort_unless_the_others_are_too_few() -> None:
    shard = settled("a1", "b1", "c1")
    shard.shut_down("c1")
    shard.wait(0.5)
    assert shard.cohort == {"a1", "b1"}
    shard.shut_down("b1")
    shard.wait(SETTLED)
    assert (shard.cohort, shard.primary, shard.view.takes_writes) == ({"a1", "b1"}, "a1", False)


def test_a_server_that_is_only_away_stays_in_the_cohort() -> None:
    shard = settled("a1", "b1", "c1")
    shard.lose("c1")
    shard.wait(500.0)
    assert shard.cohort == {"a1", "b1", "c1"}


@pytest.mark.parametrize(
    ("names", "expected"), [("a1 b1 c1", {"a1", "b1", "c1"}), ("a1 b1 c1 d1", {"a1", "b1", "d1"})]
)
def test_a_member_whose_record_was_deleted_is_dropped_late_and_only_from_a_large_cohort(
    names: str, expected: set[str]
) -> None:
    shard = settled(*names.split())
    shard.delete_record("c1")
    shard.wait(50.0)
    assert shard.cohort == set(names.split())
    shard.wait(100.0)
    assert shard.cohort == expected


def test_a_lost_primary_is_replaced_after_a_while() -> None:
    shard = settled("a1", "b1", "c1")
    shard.shut_down("a1")
    shard.wait(4.5)
    assert shard.primary == ""
    shard.wait(0.5)
    assert shard.primary == "b1"
    shard.start("a1")
    shard.wait(SETTLED)
    assert (shard.primary, shard.streaming, shard.cohort) == ("b1", {"a1", "c1"}, {"a1", "b1", "c1"})


def test_the_primary_of_two_has_no_successor_until_it_is_back() -> None:
    shard = settled("a1", "b1")
    shard.shut_down("a1")
    shard.wait(SETTLED)
    assert shard.primary == ""
    shard.start("a1")
    shard.wait(SETTLED)
    assert (shard.primary, shard.view.takes_writes) == ("b1", True)


def test_a_shard_that_loses_two_of_four_at_once_has_no_primary_until_they_are_back() -> None:
    shard = settled("a1", "a2", "b1", "b2")
    shard.shut_down("a1")
    shard.shut_down("a2")
    shard.wait(500.0)
    assert (shard.primary, shard.cohort) == ("", {"a1", "a2", "b1", "b2"})
    shard.start("a1")
    shard.wait(SETTLED)
    assert (shard.primary, shard.cohort) == ("b1", {"a1", "b1", "b2"})


def test_members_that_leave_one_after_the_other_leave_a_working_shard() -> None:
    shard = settled("a1", "a2", "b1", "b2")
    for name in ("a1", "a2"):
        assert shard.primary == name
        shard.state = resign(shard.view)
        shard.wait(SETTLED)
        shard.shut_down(name)
        shard.wait(SETTLED)
    assert (shard.cohort, shard.view.takes_writes) == ({"b1", "b2"}, True)


def test_a_primary_that_resigns_becomes_a_standby_of_another_one() -> None:
    shard = settled("a1", "b1", "c1")
    shard.state = resign(shard.view)
    shard.wait(0.0)
    assert (shard.primary, shard.view.is_ready(server("a1"))) == ("", False)
    shard.wait(7.5)
    assert shard.primary == "", "the call takes 3 s, the election 5 s more"
    shard.wait(SETTLED)
    assert (shard.primary, shard.streaming) == ("b1", {"a1", "c1"})


@pytest.mark.parametrize("fault", [DataPlaneFault.POSTGRES_DOWN, DataPlaneFault.SLOW_POSTGRES])
def test_a_primary_whose_postgres_is_down_is_replaced_and_stays_a_member(fault: DataPlaneFault) -> None:
    shard = settled("a1", "b1", "c1")
    shard.set_faults("a1", fault)
    shard.wait(SETTLED)
    assert (shard.primary, shard.cohort) == ("b1", {"a1", "b1", "c1"})
    assert shard.view.is_running(server("a1")) is (fault is DataPlaneFault.SLOW_POSTGRES)
    shard.set_faults("a1")
    shard.wait(SETTLED)
    assert "a1" in shard.streaming


def test_a_quarantined_server_leaves_the_cohort() -> None:
    shard = settled("a1", "b1", "c1")
    shard.set_faults("b1", DataPlaneFault.QUARANTINED)
    shard.wait(SETTLED)
    assert (shard.primary, shard.cohort, shard.streaming) == ("a1", {"a1", "c1"}, {"c1"})


def test_a_shard_without_its_standbys_keeps_its_primary_and_takes_no_writes() -> None:
    shard = settled("a1", "b1")
    shard.set_faults("b1", DataPlaneFault.NEVER_STREAMS)
    shard.wait(SETTLED)
    assert (shard.primary, shard.view.takes_writes) == ("a1", False)


def test_standbys_of_the_same_cell_do_not_confirm_writes_under_a_policy_of_cells() -> None:
    shard = settled("a1", "a2", "b1", policy=CELLS)
    shard.set_faults("b1", DataPlaneFault.NEVER_STREAMS)
    shard.wait(SETTLED)
    assert (shard.streaming, shard.view.takes_writes) == ({"a2"}, False)


def test_a_read_only_server_leads_only_if_there_is_no_other() -> None:
    shard = FakeShard("c1")
    shard.start("a1", may_lead=False)
    shard.start("b1", may_lead=False)
    shard.wait(SETTLED)
    assert shard.primary == "c1"
    shard.shut_down("c1")
    shard.wait(SETTLED)
    assert shard.primary == "a1"


def test_faults_of_a_shard_take_its_primary_away_or_add_another() -> None:
    shard = settled("a1", "b1", "c1")
    shard.faults = frozenset({DataPlaneFault.TWO_PRIMARIES})
    shard.wait(1.0)
    assert {each.name for each in shard.view.primaries()} == {"a1", "b1"}
    shard.faults = frozenset({DataPlaneFault.NO_PRIMARY})
    shard.wait(SETTLED)
    assert shard.primary == ""
    shard.faults = frozenset()
    shard.wait(SETTLED)
    assert shard.view.takes_writes


def test_a_server_that_does_not_stream_knows_an_old_rule() -> None:
    shard = settled("a1", "b1", "c1")
    shard.set_faults("c1", DataPlaneFault.NEVER_STREAMS)
    shard.wait(SETTLED)
    shard.start("d1")
    shard.wait(SETTLED)
    known = shard.state.known_rules
    assert known[server("b1")] == shard.state.rule
    assert server("d1") not in known[server("c1")].cohort


def test_a_forced_rule_ends_a_lost_quorum() -> None:
    shard = settled("a1", "a2", "b1", "b2")
    shard.shut_down("a1")
    shard.shut_down("a2")
    shard.wait(SETTLED)
    rule = shard.state.rule
    assert rule is not None
    forced = rule.elect(server("b1"))._replace(cohort=frozenset({server("b1"), server("b2")}))
    shard.state = install_rule(shard.view, forced)
    shard.wait(SETTLED)
    assert (shard.primary, shard.view.takes_writes, shard.cohort) == ("b1", True, {"b1", "b2"})


def with_volumes(*names: str, restorable: str = "") -> FakeShard:
    shard = FakeShard()
    shard.restorable = restorable
    for name in names:
        shard.start(name, volume=f"volume of {name}")
    return shard


def test_server_with_an_empty_volume_restores_a_backup_before_it_starts() -> None:
    shard = with_volumes("a1", "b1")
    shard.wait(5.0)
    assert shard.view.ready_servers() == frozenset()
    shard.wait(2.0)
    assert shard.view.ready_servers() == {server("a1"), server("b1")}


def test_server_with_its_old_volume_restores_nothing() -> None:
    shard = with_volumes("a1", "b1", "c1")
    shard.wait(20.0)
    shard.start("c1", volume="volume of c1")
    shard.wait(2.5)
    assert shard.view.is_ready(server("c1"))
    shard.start("c1", volume="another")
    shard.wait(2.5)
    assert not shard.view.is_ready(server("c1"))


def test_server_with_an_empty_volume_waits_for_its_repository() -> None:
    shard = with_volumes("a1", "b1", "c1")
    shard.wait(20.0)
    shard.faults = frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE})
    shard.start("c1", volume="another")
    shard.wait(20.0)
    assert shard.view.ready_servers() == {server("a1"), server("b1")}
    shard.faults = frozenset()
    shard.wait(20.0)
    assert shard.view.is_streaming(server("c1"))


def test_new_shard_has_the_data_of_its_repository() -> None:
    shard = with_volumes("a1", "b1", restorable="old data")
    shard.wait(20.0)
    assert shard.state.lineage == "old data"


def test_new_shard_with_an_empty_repository_has_data_of_its_own() -> None:
    shard = with_volumes("a1", "b1")
    shard.wait(20.0)
    assert shard.state.lineage == shard.poolers[server("a1")].uid


@pytest.mark.parametrize(("other", "primary"), [("claim b", ""), ("claim a", "a1")])
def test_servers_that_start_from_different_repositories_never_elect_a_primary(
    other: str, primary: str
) -> None:
    shard = FakeShard("a1", "b1")
    for name, repository in (("a1", "claim a"), ("b1", other)):
        shard.poolers[server(name)] = shard.poolers[server(name)]._replace(repository=repository)
    shard.wait(SETTLED)
    assert shard.primary == primary
