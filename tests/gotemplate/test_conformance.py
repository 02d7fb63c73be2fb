"""Steward's template engine answers every recorded case as Go's does, and the recordings are what Go says today."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from steward.gotemplate import Profile
from steward.gotemplate.funcs import function_set
from tests.conformance.gotemplate import ours
from tests.conformance.gotemplate.case import RECORDED, Answer, Case, read, read_groups
from tests.conformance.gotemplate.reference import Reference, binary
from tests.conformance.gotemplate.tables import AREAS, cases

pytestmark = pytest.mark.slow

_SHOWN = 12


@cache
def recorded(area: str) -> dict[str, list[tuple[Case, Answer]]]:
    groups: dict[str, list[tuple[Case, Answer]]] = {}
    for case, answer in read(RECORDED / f"{area}.jsonl"):
        groups.setdefault(case.group, []).append((case, answer))
    return groups


@cache
def tabled(area: str) -> frozenset[Case]:
    return frozenset(cases(area))


GROUPS = [
    pytest.param(area, group, id=f"{area}-{group}")
    for area in AREAS
    for group in read_groups(RECORDED / f"{area}.jsonl")
]


@pytest.fixture(scope="module", autouse=True)
def one_scrypt_for_each_password() -> Iterator[None]:
    """It is slow by design, and most cases of `derivePassword` differ only in what happens after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashlib, "scrypt", cache(hashlib.scrypt))
        yield


@pytest.mark.parametrize(("area", "group"), GROUPS)
def test_every_answer_is_go_s(area: str, group: str) -> None:
    answered = [
        (case, answer, ours.answer(_as_steward_has_it(area, case))) for case, answer in recorded(area)[group]
    ]
    differing = [_difference(case, go, mine) for case, go, mine in answered if go != mine]
    assert not differing, _shown(differing, len(answered))


@pytest.mark.parametrize("area", AREAS)
def test_every_recorded_group_is_compared(area: str) -> None:
    assert read_groups(RECORDED / f"{area}.jsonl") == list(recorded(area))


@pytest.mark.parametrize("area", AREAS)
def test_recordings_are_current(area: str) -> None:
    """They hold the cases of the tables, in order; and where Go can be asked, it still gives the same answers."""
    kept = [pair for group in recorded(area).values() for pair in group]
    assert {case for case, _ in kept} == tabled(area), (
        "run: python -m tests.conformance.gotemplate.record " + area
    )
    program = binary()
    if program is not None:
        with Reference(program) as go:
            answers = go.answers([case for case, _ in kept])
        changed = [
            _difference(c, new, old) for (c, old), new in zip(kept, answers, strict=True) if new != old
        ]
        assert not changed, _shown(changed, len(kept))


def test_every_function_has_cases() -> None:
    templates = [case.tpl for area in AREAS for case in tabled(area)]
    words = {word for tpl in templates for word in tpl.replace("(", " ").replace(")", " ").split()}
    assert set(function_set("sprig")) | set(function_set("tenants")) <= words


def test_a_refused_function_is_named_with_its_profile() -> None:
    for name, function in function_set("sprig").items():
        if function.profile is Profile.FULL:
            answer = ours.answer(Case("refused", "{{ %s }}" % name))  # noqa: UP031
            assert answer.err is not None
            assert answer.err.startswith(f'template: template:1: function "{name}" not defined')
            assert "profile full" in answer.err


def _as_steward_has_it(area: str, case: Case) -> Case:
    return replace(case, opts=(("missingkey", "defaulted"),)) if area == "defaulted" else case


def _difference(case: Case, go: Answer, mine: Answer) -> str:
    opts = " ".join(f"{name}={value}" for name, value in case.opts)
    data = f"\n  data     {case.data}" if case.data else ""
    return f"  template {case.tpl!r} {opts}{data}\n  go       {go}\n  ours     {mine}"


def _shown(differing: list[str], count: int) -> str:
    rest = f"\n  ... and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return f"{len(differing)} of {count} cases differ:\n" + "\n\n".join(differing[:_SHOWN]) + rest
