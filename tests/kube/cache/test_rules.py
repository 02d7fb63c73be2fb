import pytest

from steward.kube.cache.rules import CacheRule, parse_selector
from steward.kube.objects.kinds import CONFIG_MAP
from steward.kube.objects.meta import Metadata, ObjectMeta

LABELS = {"app": "web", "tier": "front", "empty": ""}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app=db", False),
        ("missing=web", False),
        ("app!=web", False),
        ("app!=db", True),
        ("missing!=web", True),
        ("app", True),
        ("missing", False),
        ("!missing", True),
        ("! app", False),
        ("empty=", True),
        ("app=", False),
        ("app in (web, db)", True),
        ("app in (db)", False),
        ("missing in (web)", False),
        ("app notin (db,cache)", True),
        ("app notin (web)", False),
        ("missing notin (web)", True),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
        ("app in (a,web),!missing , tier", True),
        ("example.com/app=web", False),
        ("info=web", False),
        ("notinside=web", False),
    ],
)
def test_a_selector_matches_as_the_server_matches(selector: str, matches: bool) -> None:
    assert parse_selector(selector).matches(LABELS) is matches


@pytest.mark.parametrize("selector", ["app=web=db", "app in web", "app=(a)", "=web", "app,,tier", "app > 1"])
def test_an_invalid_selector_is_rejected_with_the_cure(selector: str) -> None:
    with pytest.raises(ValueError, match="write key=value"):
        parse_selector(selector)


def test_a_rule_has_one_source_for_each_namespace() -> None:
    rule = CacheRule(CONFIG_MAP, Metadata, {"*": "a=b", "own": ""})

    everywhere, own = rule.watch_scopes()

    assert everywhere.selects(ObjectMeta(namespace="x", labels={"a": "b"}))
    assert not everywhere.selects(ObjectMeta(namespace="x"))
    assert own.selects(ObjectMeta(namespace="own"))
    assert not own.selects(ObjectMeta(namespace="x", labels={"a": "b"}))


def test_rules_are_equal_by_their_fields() -> None:
    rules = {CacheRule(CONFIG_MAP, Metadata, {"*": "a=b"}), CacheRule(CONFIG_MAP, Metadata, {"*": "a=b"})}

    assert len(rules) == 1
    assert CacheRule(CONFIG_MAP, Metadata) != CacheRule(CONFIG_MAP, Metadata, owned_by="us")
