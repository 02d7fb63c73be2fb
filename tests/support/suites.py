"""Suites that a plain run leaves out because they take minutes of their own; each has a target in the Makefile.

A run that names a directory or file of a suite runs it. Left out here and not by an option in pyproject.toml: a run
with such an option counts as a selection, and the operators' permissions are compared only after a full run. Their
files are not even imported: every worker would do that.
"""

from pathlib import Path

import pytest

from tests.support.paths import ROOT

SEPARATE = tuple(
    ROOT / "tests" / suite for suite in ("attacks", "e2e", "multigres/crashes", "mysql", "page/integration")
)


def is_left_out(config: pytest.Config, path: Path) -> bool:
    """Whether the path is a separate suite that no argument of the command line names."""
    return path in SEPARATE and not _is_named(config, path)


def _is_named(config: pytest.Config, suite: Path) -> bool:
    """Whether an argument of the command line is the suite or a part of it."""
    directory = config.invocation_params.dir
    named = (Path(directory, argument.partition("::")[0]).resolve() for argument in config.args)
    return any(path.is_relative_to(suite) for path in named)
