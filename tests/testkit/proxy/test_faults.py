import msgspec
import pytest

from steward.testkit import Answer, CutWatch, Drop, InsertLine, LoseReply, Match, Rule, gone_event
from steward.testkit.proxy.faults import status_body
from steward.testkit.proxy.requests import Call, parse_call
from steward.testkit.proxy.rules import RuleSet

PATCH = parse_call("PATCH", "/apis/apps/v1/namespaces/a/deployments/web", {}, "steward/1 (multigres)")


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (Match(), True),
        (Match(verb="patch", resource="deployments", namespace="a", name="web", group="apps"), True),
        (Match(method="PATCH", user_agent="multigres", write=True), True),
        (Match(path=r"/deployments/w\w+$"), True),
        (Match(subresource=""), True),
        (Match(subresource="status"), False),
        (Match(group=""), False),
        (Match(write=False), False),
        (Match(verb="patch", name="other"), False),
        (Match(user_agent="tenants"), False),
        (Match(path="^/api/v1"), False),
    ],
)
def test_a_match_needs_every_field_that_is_set(match, fits):
    assert match.matches(PATCH) is fits


@pytest.mark.parametrize(
    ("first", "count", "hit"),
    [(1, 0, [1, 2, 3, 4, 5]), (1, 1, [1]), (3, 0, [3, 4, 5]), (2, 2, [2, 3])],
)
def test_a_rule_hits_count_matches_from_the_first_on(first, count, hit):
    rule = Rule(Match(), Drop(), first=first, count=count)
    assert [nth for nth in range(1, 6) if rule.hits(nth)] == hit


def test_the_first_due_rule_applies_and_the_others_still_count_the_call():
    rules = RuleSet()
    rules.add(Rule(Match(), Drop(), count=1))
    second = rules.add(Rule(Match(), Answer(503), first=2))
    assert rules.fault_for(PATCH)[0] == Drop()
    assert second.matched == 1
    assert rules.fault_for(PATCH)[0] == Answer(503)
    rules.remove(second.id)
    assert rules.fault_for(PATCH) is None


@pytest.mark.parametrize(
    "fault", [Drop(), LoseReply(), Answer(429, retry_after=3), CutWatch(), InsertLine("{")]
)
def test_a_rule_can_be_sent_as_json(fault):
    rule = Rule(Match(verb="watch"), fault, first=2)
    assert msgspec.json.decode(msgspec.json.encode(rule), type=Rule) == rule


@pytest.mark.parametrize(
    ("code", "reason"),
    [(409, "Conflict"), (410, "Expired"), (429, "TooManyRequests"), (503, "ServiceUnavailable"), (599, "")],
)
def test_a_scripted_answer_is_a_status_with_the_reason_of_its_code(code, reason):
    status = msgspec.json.decode(status_body(Answer(code, retry_after=7), PATCH))
    assert (status["kind"], status["status"], status["code"], status["reason"]) == (
        "Status",
        "Failure",
        code,
        reason,
    )
    assert status["details"] == {
        "name": "web",
        "group": "apps",
        "kind": "deployments",
        "retryAfterSeconds": 7,
    }


def test_a_reason_can_be_given():
    body = status_body(Answer(409, reason="AlreadyExists", message="there"), Call("POST", "/", "create"))
    status = msgspec.json.decode(body)
    assert (status["reason"], status["message"], status["details"]) == ("AlreadyExists", "there", {})


def test_a_gone_event_is_an_error_event_with_code_410():
    event = msgspec.json.decode(gone_event())
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
