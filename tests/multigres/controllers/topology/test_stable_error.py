"""A cause that comes in ever other words is not told anew each time."""

from steward.kube.objects.kinds import Key
from steward.multigres.controllers.topology.stable_error import OFTEN, Wording

KEY = Key("shop", "x")
STANDS = "no such host"


def told(wording: Wording, *heard: str, standing: str = STANDS) -> list[str]:
    return [wording.of(KEY, standing, words) for words in heard]


def test_the_first_words_are_told_at_once() -> None:
    assert told(Wording(), "no answer", standing="") == ["no answer"]


def test_other_words_wait_until_they_have_come_often() -> None:
    assert told(Wording(), *["no answer"] * OFTEN) == [STANDS] * (OFTEN - 1) + ["no answer"]


def test_words_that_come_and_go_are_never_told() -> None:
    assert set(told(Wording(), *["no answer", STANDS, "refused"] * 5)) == {STANDS}


def test_after_an_answer_the_count_begins_anew() -> None:
    wording = Wording()
    told(wording, *["no answer"] * OFTEN)
    wording.forget(KEY)
    assert told(wording, "no answer") == [STANDS]
