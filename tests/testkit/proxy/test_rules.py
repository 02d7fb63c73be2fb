import asyncio

from steward.testkit import Drop, HoldWatch, LoseEvents, Match, Rule
from steward.testkit.proxy.requests import parse_call
from steward.testkit.proxy.rules import RuleSet
from steward.testkit.proxy.watch_tampering import Event, MatchedFault

WATCH = parse_call("GET", "/api/v1/pods", {"watch": "true"})


async def test_a_test_can_wait_until_a_rule_has_hit():
    rules = RuleSet()
    entry = rules.add(Rule(Match(), Drop(), first=2))
    waiting = asyncio.create_task(entry.until_hit(2))
    for _ in range(2):
        rules.fault_for(WATCH)
    await asyncio.sleep(0)
    assert not waiting.done()
    rules.fault_for(WATCH)
    await waiting
    assert (entry.matched, entry.hits) == (3, 2)


def test_watch_faults_count_events_and_do_not_affect_requests():
    rules = RuleSet()
    entry = rules.add(Rule(Match(verb="watch"), LoseEvents(type="ADDED"), first=2, count=1))
    assert rules.fault_for(WATCH) is None
    assert entry.matched == 0
    due = [list(rules.faults_for(WATCH, Event(kind))) for kind in ("ADDED", "MODIFIED", "ADDED", "ADDED")]
    assert due == [[], [], [MatchedFault(LoseEvents(type="ADDED"), entry.id)], []]


def test_all_due_watch_faults_apply_to_an_event():
    rules = RuleSet()
    faults = [LoseEvents(), HoldWatch()]
    for fault in faults:
        rules.add(Rule(Match(), fault))
    assert [due.fault for due in rules.faults_for(WATCH, Event("ADDED"))] == faults


def test_streams_without_matching_rules_need_no_decoding():
    rules = RuleSet()
    rules.add(Rule(Match(), Drop()))
    rules.add(Rule(Match(resource="secrets"), LoseEvents()))
    assert not rules.tampers_with(WATCH)
    rules.add(Rule(Match(resource="pods"), LoseEvents()))
    assert rules.tampers_with(WATCH)


def test_removing_a_rule_releases_held_calls():
    rules = RuleSet()
    entry = rules.add(Rule(Match(), HoldWatch()))
    rules.remove(entry.id)
    rules.remove(entry.id)
    assert entry.removed.is_set()
    assert rules.entries() == []
