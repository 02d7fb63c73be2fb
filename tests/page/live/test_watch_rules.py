"""What the page watches."""

from steward.kube.cache.rules import EVERY_NAMESPACE
from steward.kube.objects.kinds import DEPLOYMENT, SECRET
from steward.page.live.watch_rules import WATCHED, event_rule, watch_rules


def test_secrets_are_never_watched() -> None:
    rules = watch_rules(dict.fromkeys(WATCHED, (EVERY_NAMESPACE,)))
    assert SECRET not in {rule.kind for rule in rules}


def test_built_in_kinds_are_watched_by_the_labels_of_the_operators() -> None:
    rules = watch_rules({DEPLOYMENT: ("shop", "saas")})
    assert [set(rule.selectors) for rule in rules] == [{"shop", "saas"}] * 2
    assert all(all(rule.selectors.values()) for rule in rules)


def test_a_kind_that_the_reader_may_not_list_is_not_watched() -> None:
    assert watch_rules({DEPLOYMENT: ()}) == []


def test_events_are_watched_in_one_namespace() -> None:
    assert dict(event_rule("shop").selectors) == {"shop": ""}
