"""Masterminds/semver."""

from itertools import pairwise

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.semver.constraint import check, parse_constraint
from steward.gotemplate.golang.semver.semver import compare, next_major, next_minor, next_patch, parse_version


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1", "1.0.0"), ("v1.2", "1.2.0"), ("1.2.3-rc.1+b.2", "1.2.3-rc.1+b.2"), ("01.2.3", "1.2.3")],
)
def test_versions_are_read_leniently(text: str, shown: str) -> None:
    assert str(parse_version(text)) == shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Invalid Semantic Version"),
        ("1.2.3.4", "Invalid Semantic Version"),
        ("1.2.3-01", "Version segment starts with 0"),
        (
            "99999999999999999999",
            "Error parsing version segment: strconv.ParseUint: "
            'parsing "99999999999999999999": value out of range',
        ),
    ],
)
def test_bad_versions_are_refused_in_go_words(text: str, words: str) -> None:
    with pytest.raises(GoError) as caught:
        parse_version(text)
    assert caught.value.text == words


def test_versions_are_in_order() -> None:
    texts = ["1.0.0-1", "1.0.0-2", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta", "1.0.0", "1.0.1", "1.10.0"]
    versions = [parse_version(text) for text in texts]
    assert all(compare(low, high) == -1 for low, high in pairwise(versions))
    assert compare(parse_version("1.0.0+a"), parse_version("1.0.0+b")) == 0


def test_the_next_version_keeps_the_v() -> None:
    version = parse_version("v1.2.3-rc")
    assert [step(version).original for step in (next_major, next_minor, next_patch)] == [
        "v2.0.0",
        "v1.3.0",
        "v1.2.3",
    ]


@pytest.mark.parametrize(
    ("constraint", "version", "holds"),
    [
        ("^1.2", "1.9.0", True),
        ("^1.2", "2.0.0", False),
        ("^0.1", "0.2.0", False),
        ("~1.2.3", "1.2.9", True),
        ("~1", "1.9.9", True),
        ("1.x", "1.5.0", True),
        ("*", "1.2.3-rc", False),
        (">=1.2.3-0", "1.2.3-rc", True),
        ("1.0 - 2.0", "1.5.0", True),
        ("<1 || >2", "3.0.0", True),
        (">=1, <2", "2.0.0", False),
        ("!=1.x", "1.2.3", False),
        (">1.2", "1.2.9", False),
        ("<=1.2", "1.2.9", True),
    ],
)
def test_constraints(constraint: str, version: str, holds: bool) -> None:
    assert check(parse_constraint(constraint), parse_version(version)) is holds


@pytest.mark.parametrize(
    ("constraint", "words"),
    [("", "improper constraint: "), ("bad", "improper constraint: bad"), ("1|2", "constraint Parser Error")],
)
def test_bad_constraints_are_refused_in_go_words(constraint: str, words: str) -> None:
    with pytest.raises(GoError) as caught:
        parse_constraint(constraint)
    assert caught.value.text == words
