"""Retries share their times between clusters, and a changing error message is not reported at every try."""

import pytest

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.topology.retry import REPORT_AFTER, TopologyRetries
from steward.testkit import FakeClock

KEY = Key("shop", "x")
REPORTED = "no such host"


@pytest.fixture
def retries() -> TopologyRetries:
    return TopologyRetries(FakeClock())


def messages(retries: TopologyRetries, *errors: str, reported: str = REPORTED) -> list[str]:
    return [retries.stable_message(KEY, reported, error) for error in errors]


def test_the_first_message_is_reported_at_once(retries: TopologyRetries) -> None:
    assert messages(retries, "no answer", reported="") == ["no answer"]


def test_another_message_is_reported_once_it_has_repeated(retries: TopologyRetries) -> None:
    expected = [REPORTED] * (REPORT_AFTER - 1) + ["no answer"]
    assert messages(retries, *["no answer"] * REPORT_AFTER) == expected


def test_alternating_messages_are_never_reported(retries: TopologyRetries) -> None:
    assert set(messages(retries, *["no answer", REPORTED, "refused"] * 5)) == {REPORTED}


def test_the_count_starts_again_after_a_success(retries: TopologyRetries) -> None:
    messages(retries, *["no answer"] * REPORT_AFTER)
    retries.forget(KEY)
    assert messages(retries, "no answer") == [REPORTED]
