"""The differences from Go that are meant, in one place, each with its reason. The fuzzer counts them and goes on."""

from __future__ import annotations

import re
from collections.abc import Callable

from .case import Answer, Case

Rule = Callable[[Case, Answer, Answer], bool]

_ADDRESS = re.compile(rb"0[xX][0-9a-fA-F]{9,12}|[0-9]{12,15}|0o?[0-7]{12,16}|[01]{40,48}")
_DATE_INSIDE = re.compile(rb"(\{[^{}]*[^{} ]) +[^{} ]+\}")
_BUDGETS = (
    "that one rendering may",
    "exceeded maximum template depth",
    "output is larger than",
    "source is larger than",
)


def _go_crashed(case: Case, go: Answer, ours: Answer) -> bool:
    """Go panicked, overflowed its stack or ran out of time: there is nothing to compare with."""
    return go.crash is not None


def _address(case: Case, go: Answer, ours: Answer) -> bool:
    """Both printed where a value lies in memory, and nothing else differs."""
    if go.out is None or ours.out is None:
        return False
    return _ADDRESS.sub(b"address", go.out) == _ADDRESS.sub(b"address", ours.out)


def _budget(case: Case, go: Answer, ours: Answer) -> bool:
    """Ours refuses to build or to run that much; Go has no such limits."""
    return ours.err is not None and any(words in ours.err for words in _BUDGETS)


def _clock(case: Case, go: Answer, ours: Answer) -> bool:
    """Go takes the time of day for a date that is none; the profile hermetic has no clock."""
    return ours.err is not None and "the clock is only in profile full" in ours.err


def _inside_of_a_date(case: Case, go: Answer, ours: Answer) -> bool:
    """A verb that is not for text (%d, %t ...) shows the fields of a date; the third says where its zone lies."""
    if go.out is None or ours.out is None:
        return False
    if b"*time.location" in b"".join(go.out.lower().split()):
        return True
    return _DATE_INSIDE.sub(rb"\1 zone}", go.out) == _DATE_INSIDE.sub(rb"\1 zone}", ours.out)


RULES: dict[str, Rule] = {
    "Go crashed": _go_crashed,
    "an address in the output": _address,
    "over our budget": _budget,
    "no clock": _clock,
    "the inside of a date": _inside_of_a_date,
}


def explanation(case: Case, go: Answer, ours: Answer) -> str | None:
    """The name of the rule that explains why two answers differ."""
    return next((name for name, rule in RULES.items() if rule(case, go, ours)), None)
