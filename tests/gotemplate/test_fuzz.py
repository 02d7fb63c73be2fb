"""A short run of the differential fuzzer, and proof that the fuzzer itself works."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence

import pytest

from steward.gotemplate import Profile
from steward.gotemplate.funcs import function_set
from tests.conformance.gotemplate import explained, ours
from tests.conformance.gotemplate.case import RECORDED, Answer, Case, case, read
from tests.conformance.gotemplate.fuzz import Report, compare, run
from tests.conformance.gotemplate.grammar import mutate, names_covered, pair
from tests.conformance.gotemplate.reference import Reference, required
from tests.conformance.gotemplate.shrink import shrink

pytestmark = pytest.mark.slow

_PAIRS = 3000
_SEED = 20240229


class Recorded:
    """Go's part of a run, played from the recording."""

    def __init__(self, answered: Sequence[tuple[Case, Answer]]) -> None:
        self.known = dict(answered)

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        return [self.known[case] for case in cases]


def recorded_pairs() -> Report:
    answered, report = read(RECORDED / "fuzzed.jsonl"), Report()
    compare([case for case, _ in answered], Recorded(answered), report)
    return report


def new_pairs() -> Report:
    with Reference(required()) as go:
        *_, report = run(_PAIRS, _SEED, go)
    return report


PAIRS = {recorded_pairs: 450} | ({new_pairs: _PAIRS} if shutil.which("go") else {})
"""How many pairs there are. Without Go on the machine, only the recorded ones are compared."""


@pytest.mark.parametrize(("pairs", "count"), PAIRS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_both_engines_agree_on_random_pairs(pairs: Callable[[], Report], count: int) -> None:
    report = pairs()
    assert report.pairs >= count
    assert report.errors > report.pairs // 10, "templates that fail are half of what there is to agree on"
    assert not report.differences, "\n\n".join(map(str, report.differences[:10]))


def test_a_seed_always_gives_the_same_pairs() -> None:
    assert [pair(5, n) for n in range(50)] == [pair(5, n) for n in range(50)]
    assert [pair(5, n) for n in range(50)] != [pair(6, n) for n in range(50)]


def test_no_broken_template_raises_anything_but_a_template_error() -> None:
    import random

    rng = random.Random(7)
    for number in range(1500):
        broken = Case("broken", mutate(rng, pair(8, number).tpl), "{}")
        answer = ours.answer(broken)
        assert answer.err is None or answer.err.startswith("template: template:"), broken.tpl


def test_the_fuzzer_reaches_every_hermetic_function_that_has_one_answer() -> None:
    hermetic = {
        name for name, function in function_set("sprig").items() if function.profile is Profile.HERMETIC
    }
    # `call` needs a function as a value, which JSON has not; the other two are slow by design and have their own cases.
    assert hermetic - names_covered() == {"call", "decryptAES", "derivePassword"}


def test_a_difference_is_made_as_small_as_it_can_be() -> None:
    big = case(
        "big",
        'text {{ if .a }}{{ .b | upper | quote }}{{ end }} {{ fail "x" }} more',
        {"a": 1, "b": {"c": [1]}},
    )

    def holds_fail(cases: Sequence[Case]) -> list[bool]:
        return ["fail" in c.tpl and "b" in (c.data or "") for c in cases]

    small = shrink(big, holds_fail)
    assert small.tpl == "fail"
    assert small.data == '{"b": {}}'


def test_rules_explain_only_what_they_name() -> None:
    asked = Case("rule", "{{ 1 }}")
    assert explained.explanation(asked, Answer(out=b"1"), Answer(out=b"2")) is None
    address = Answer(out=b"[0xc000012345]")
    assert (
        explained.explanation(asked, address, Answer(out=b"[0x7fc893bbd610]")) == "an address in the output"
    )
    assert explained.explanation(asked, address, Answer(out=b"x")) is None
    over = Answer(err="template: template:1:3: builds more than the 5 bytes that one rendering may build")
    assert explained.explanation(asked, Answer(out=b"1"), over) == "over our budget"
