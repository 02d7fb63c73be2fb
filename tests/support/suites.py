"""Suites that a plain run leaves out because they take minutes of their own; each has a target in the Makefile.

A run that names a directory or file of a suite runs it. Deselected here and not by an option in pyproject.toml: a run
with such an option counts as a selection, and the operators' permissions are compared only after a full run.
"""

from pathlib import Path

import pytest

from tests.support.paths import ROOT

SEPARATE = tuple(ROOT / "tests" / suite for suite in ("attacks", "e2e", "mysql", "page/integration"))


def deselect_separate_suites(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [suite for suite in SEPARATE if not _is_named(config, suite)]
    deselected = [item for item in items if any(item.path.is_relative_to(suite) for suite in left_out)]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        dropped = set(deselected)
        items[:] = [item for item in items if item not in dropped]


def _is_named(config: pytest.Config, suite: Path) -> bool:
    """Whether an argument of the command line is the suite or a part of it."""
    directory = config.invocation_params.dir
    named = (Path(directory, argument.partition("::")[0]).resolve() for argument in config.args)
    return any(path.is_relative_to(suite) for path in named)
