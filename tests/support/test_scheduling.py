"""The hand-written lists of the scheduler name files that exist."""

from tests.support.paths import ROOT
from tests.support.scheduling import ALONE_WITH, LONGEST


def test_every_listed_file_exists() -> None:
    named = [*LONGEST, *(file for files in ALONE_WITH.values() for file in files)]
    assert [file for file in named if not (ROOT / file).is_file()] == []


def test_no_file_is_listed_twice() -> None:
    assert len(set(LONGEST)) == len(LONGEST)
