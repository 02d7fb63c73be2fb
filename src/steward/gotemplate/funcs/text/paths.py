"""File paths with slashes. The os* twins are the same: what renders here runs on Unix."""

from __future__ import annotations

from collections.abc import Callable

from steward.gotemplate.budget import Budget
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang import paths

table = Table()


def _declare(name: str, function: Callable[[str], str | bool], result: str) -> None:
    def on_path(budget: Budget, path: str) -> str | bool:
        budget.work(len(path) // 8)
        return function(path)

    for full in (name, "os" + name[0].upper() + name[1:]):
        table.budgeted(f"{full}(string) {result}")(on_path)


_declare("base", paths.base, "string")
_declare("dir", paths.directory, "string")
_declare("clean", paths.clean, "string")
_declare("ext", paths.extension, "string")
_declare("isAbs", paths.is_absolute, "bool")
