"""Methods: arguments are checked against a signature that only the value knows."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate import ExecError, parse
from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import BadSignature, GoError
from steward.gotemplate.funcs.registry import Table, methods
from steward.gotemplate.values.values import go_type

TABLE = Table()


@TABLE.function("Join(string, ...string) string")
def join(this: Any, first: str, *rest: str) -> str:
    return "+".join([this.name, first, *rest])


@TABLE.budgeted("Repeat(int64) string")
def repeat(budget: Budget, this: Any, count: int) -> str:
    budget.build(count)
    return str(this.name) * count


@TABLE.function("Fails(string) string")
def fails(_this: Any, why: str) -> str:
    raise GoError(why)


@TABLE.function("Pair() int")
def pair(_this: Any) -> int:
    raise BadSignature("function Pair has 2 return values; should be 1 or 2")


@TABLE.function("String() string")
def string(this: Any) -> str:
    return f"<{this.name}>"


class Thing:
    go_type = go_type("test.Thing", "struct")
    go_methods = methods(TABLE)

    def __init__(self, name: str) -> None:
        self.name = name

    def go_fields(self) -> dict[str, Any]:
        return {"Name": self.name, "secret": 1}


DATA = {"t": Thing("x"), "n": 2.0}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{{ .t.Join "a" "b" }}', "x+a+b"),
        ('{{ "c" | .t.Join "a" }}', "x+a+c"),
        ("{{ .t.Repeat 3 }}", "xxx"),
        ("{{ .t.Name }}{{ .t }}", "x<x>"),
        ('{{ $t := .t }}{{ $t.Join "a" }}{{ (index . "t").Join "b" }}', "x+ax+b"),
        ('{{ printf "%v %s %d" .t .t 1 }}', "<x> <x> 1"),
    ],
)
def test_methods_and_fields(source: str, text: str) -> None:
    assert parse(source).render(DATA) == text


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (
            "{{ .t.Join }}",
            '1:5: executing "template" at <.t.Join>: wrong number of args for Join: want at least 1 got 0',
        ),
        ("{{ .t.Join 1 }}", '1:11: executing "template" at <1>: expected string; found 1'),
        (
            "{{ .t.Join .n }}",
            '1:11: executing "template" at <.n>: wrong type for value; expected string; got float64',
        ),
        (
            "{{ .n | .t.Join `a` }}",
            '1:16: executing "template" at <`a`>: wrong type for value; expected string; got float64',
        ),
        ("{{ .t.Join nil }}", '1:11: executing "template" at <nil>: cannot assign nil to string'),
        (
            "{{ .t.Repeat 1 2 }}",
            '1:5: executing "template" at <.t.Repeat>: wrong number of args for Repeat: want 1 got 2',
        ),
        ("{{ .t.Fails `no` }}", '1:5: executing "template" at <.t.Fails>: error calling Fails: no'),
        (
            "{{ .t.Pair }}",
            '1:5: executing "template" at <.t.Pair>: function Pair has 2 return values; should be 1 or 2',
        ),
        (
            "{{ .t.Name 1 }}",
            '1:5: executing "template" at <.t.Name>: Name has arguments but cannot be invoked as function',
        ),
        (
            "{{ .t.secret }}",
            '1:5: executing "template" at <.t.secret>: secret is an unexported field of struct type interface {}',
        ),
        (
            "{{ $t := .t }}{{ $t.secret }}",
            '1:19: executing "template" at <$t.secret>: secret is an unexported field of struct type test.Thing',
        ),
        (
            "{{ .t.nope }}",
            '1:5: executing "template" at <.t.nope>: can\'t evaluate field nope in type interface {}',
        ),
    ],
)
def test_what_goes_wrong(source: str, error: str) -> None:
    with pytest.raises(ExecError) as caught:
        parse(source).render(DATA)
    assert str(caught.value) == f"template: template:{error}"


def test_a_method_may_run_out_of_budget() -> None:
    with pytest.raises(ExecError, match="builds more than"):
        parse("{{ .t.Repeat 5000000 }}").render(DATA)
