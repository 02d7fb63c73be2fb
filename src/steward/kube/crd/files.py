"""Writes the CustomResourceDefinition of each kind to a file, or checks that the files are up to date."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from steward.kube.crd.schema import CustomKind, definition

CHECK = "--check"


def write_or_check(kinds: Iterable[CustomKind], source: str, arguments: Sequence[str]) -> int:
    """Runs `python -m PACKAGE DIRECTORY [--check]`: returns its exit code. `source` is the directory of the types."""
    directory = Path(arguments[0])
    expected = {directory / f"{custom.group}_{custom.plural}.yaml": _text(custom, source) for custom in kinds}
    return _check(expected) if CHECK in arguments else _write(directory, expected)


def _text(custom: CustomKind, source: str) -> str:
    head = f"# Made from the types in {source} by `make generate`; do not edit.\n"
    return head + yaml.safe_dump(definition(custom), sort_keys=False, width=120, allow_unicode=True)


def _write(directory: Path, expected: dict[Path, str]) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    for path, text in expected.items():
        path.write_text(text)
    return 0


def _check(expected: dict[Path, str]) -> int:
    stale = [str(path) for path, text in expected.items() if not path.is_file() or path.read_text() != text]
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0
