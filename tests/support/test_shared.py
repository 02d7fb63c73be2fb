"""What workers of one run share starts once and ends once, whoever is done first."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.paths import ROOT
from tests.support.scheduling import ALONE_WITH, LONGEST
from tests.support.shared import shared


class Thing:
    """What is shared; it keeps a diary."""

    def __init__(self) -> None:
        self.diary: list[str] = []

    @contextmanager
    def __call__(self) -> Iterator[str]:
        self.diary.append("begins")
        yield f"number {self.diary.count('begins')}"
        self.diary.append("ends")


def test_the_first_starts_it_and_the_others_find_it(tmp_path: Path) -> None:
    thing = Thing()
    with shared(tmp_path, thing) as first:
        with shared(tmp_path, thing) as second:
            assert first == second == "number 1"
        assert thing.diary == ["begins"]
    assert thing.diary == ["begins", "ends"]


def test_it_ends_only_after_the_last_has_let_go(tmp_path: Path) -> None:
    thing = Thing()
    first, second = shared(tmp_path, thing), shared(tmp_path, thing)
    with ThreadPoolExecutor(1) as thread:
        first.__enter__()
        second.__enter__()
        leaving = thread.submit(first.__exit__, None, None, None)
        # It cannot have ended, however long one looks: the second still uses it.
        assert thing.diary == ["begins"]
        second.__exit__(None, None, None)
        leaving.result(timeout=60)
    assert thing.diary == ["begins", "ends"]


def test_who_comes_after_the_end_starts_another(tmp_path: Path) -> None:
    thing = Thing()
    with shared(tmp_path, thing):
        pass
    with shared(tmp_path, thing) as later:
        assert later == "number 2"


def test_what_the_schedule_names_is_there() -> None:
    named = [*LONGEST, *(file for files in ALONE_WITH.values() for file in files)]
    assert [file for file in named if not (ROOT / file).is_file()] == []
