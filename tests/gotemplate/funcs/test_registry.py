"""The registry and the sets: signatures, and an index that tells the truth about the modules."""

from __future__ import annotations

import importlib

import pytest

from steward.gotemplate.budget import Profile
from steward.gotemplate.funcs import MODULES, FunctionSet, function_set
from steward.gotemplate.funcs.registry import Table, declare
from steward.gotemplate.values.values import ANY, INT, LIST, STRING


def test_a_signature_is_read_as_go_writes_it() -> None:
    function = declare("f(int, string, ...any) []any", print)
    assert (function.params, function.rest, function.result) == ((INT, STRING), ANY, LIST)
    assert declare("g() string", print).params == ()


def test_a_table_keeps_what_it_declares() -> None:
    table = Table()

    @table.function("one(string) string", Profile.FULL)
    @table.budgeted("two(string) string")
    def implementation(text: str) -> str:
        return text

    assert list(table) == ["two", "one"]
    assert (table["one"].budgeted, table["two"].budgeted) == (False, True)
    assert (table["one"].repeatable, table["two"].repeatable) == (False, True)
    assert table["one"].call is implementation


@pytest.mark.parametrize("module", MODULES)
def test_the_index_lists_what_a_module_declares(module: str) -> None:
    declared = set(importlib.import_module(f"steward.gotemplate.funcs.{module}").table)
    hidden = {
        word for other in list(MODULES)[list(MODULES).index(module) + 1 :] for word in MODULES[other].split()
    }
    assert set(MODULES[module].split()) == declared - hidden


def test_no_function_is_listed_twice() -> None:
    words = " ".join(MODULES.values()).split()
    assert len(words) == len(set(words))


def test_sprig_is_whole() -> None:
    assert len(function_set("sprig")) == 228


def test_a_set_loads_a_function_when_it_is_asked_for() -> None:
    made = FunctionSet({"upper": "funcs.text.strings"})
    assert "upper" in made
    assert made["upper"].name == "upper"
    with pytest.raises(KeyError):
        _ = made["lower"]


def test_the_operator_hides_sprigs_own() -> None:
    assert (
        function_set("sprig")["fromJson"]
        is importlib.import_module("steward.gotemplate.funcs.operator").table["fromJson"]
    )
    assert function_set("tenants")["int"] is not function_set("sprig")["int"]
