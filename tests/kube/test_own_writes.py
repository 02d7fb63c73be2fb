"""Whose version is it? One object, and what became known of it, step by step."""

from collections.abc import Callable

import pytest

from steward.kube.kinds import Key
from steward.kube.meta import Metadata, ObjectMeta
from steward.kube.own_writes import Before, OwnWrites

KEY = Key("n", "a")
ME, ANOTHER = "me", "another"
HELD = Before(Metadata(ObjectMeta(name="a", namespace="n", resource_version="10")))

Writes = OwnWrites[Metadata]
Step = Callable[[Writes], Before[Metadata] | None]


def begins(writer: str = ME) -> Step:
    return lambda writes: writes.begin(KEY, writer, HELD)


def answered(version: int) -> Step:
    return lambda writes: writes.answered(KEY, str(version))


def shown(version: int) -> Step:
    return lambda writes: writes.shown(KEY, str(version))


def ends(writes: Writes) -> Before[Metadata] | None:
    return writes.end(KEY)


def list_begins(writes: Writes) -> Before[Metadata] | None:
    return next((before for _, before in writes.list_begins(0)), None)


def list_ends(writes: Writes) -> Before[Metadata] | None:
    writes.list_ends(0)
    return None


OURS_ALONE = {
    "the answer, then the watch": (begins(), answered(11), ends, shown(11)),
    "the watch, then the answer": (begins(), shown(11), answered(11), ends),
    "the watch before the end": (begins(), answered(11), shown(11), ends),
    "two writes, one after the other": (
        *(begins(), answered(11), ends, begins(), answered(12), ends),
        *(shown(11), shown(12)),
    ),
    "two writes, the watch between": (
        *(begins(), answered(11), ends, begins(), shown(11), answered(12), ends, shown(12)),
    ),
    "an apply that had nothing to write": (begins(), ends),
    "late news of what was held": (begins(), shown(9), shown(10), answered(11), ends, shown(11)),
}

NOT_OURS_ALONE = {
    "another version while we write": (begins(), shown(11), answered(12), ends),
    "another version that the watch shows after the answer": (begins(), answered(12), ends, shown(11)),
    "another version after the answer, shown before the end": (begins(), answered(11), shown(12), ends),
    "a write that failed, and a version": (begins(), shown(11), ends),
    "a list while we write": (begins(), list_begins, shown(11), list_ends, answered(11), ends),
    "a list that begins after the answer": (begins(), answered(11), ends, list_begins, shown(11), list_ends),
    "a list that ends after the answer": (list_begins, begins(), answered(11), ends, shown(11), list_ends),
    "a list that shows our write": (list_begins, begins(), answered(11), shown(11), list_ends, ends),
    "an answer that came for nobody": (begins(), answered(11), ends, answered(12), shown(12)),
}


def handed_back(steps: tuple[Step, ...]) -> tuple[list[Before[Metadata]], Writes]:
    writes = Writes()
    found = [before for step in steps if (before := step(writes)) is not None]
    return found, writes


@pytest.mark.parametrize("steps", OURS_ALONE.values(), ids=OURS_ALONE.keys())
def test_what_was_ours_alone_is_not_told_again_and_is_forgotten(steps: tuple[Step, ...]) -> None:
    found, writes = handed_back(steps)
    assert found == []
    assert len(writes) == 0


@pytest.mark.parametrize("steps", NOT_OURS_ALONE.values(), ids=NOT_OURS_ALONE.keys())
def test_what_may_hide_a_strangers_write_is_handed_back_once(steps: tuple[Step, ...]) -> None:
    found, writes = handed_back(steps)
    assert found == [HELD]
    assert len(writes) == 0


def test_what_two_write_at_once_is_nobodys() -> None:
    writes = Writes()
    writes.begin(KEY, ME, HELD)
    assert writes.writer_of(KEY) == ME
    writes.begin(KEY, ANOTHER, HELD)
    assert writes.writer_of(KEY) is None


def test_who_has_written_is_no_longer_writing() -> None:
    writes = Writes()
    writes.begin(KEY, ME, HELD)
    writes.answered(KEY, "11")
    writes.end(KEY)
    assert writes.writer_of(KEY) is None
    assert len(writes) == 1
