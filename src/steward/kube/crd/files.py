"""CustomResourceDefinitions as files, one a kind: written from the types, or checked to be what the types say."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from steward.kube.crd.schema import CustomKind, definition

CHECK = "--check"


def write_or_check(kinds: Iterable[CustomKind], source: str, arguments: Sequence[str]) -> int:
    """The exit code of `python -m PACKAGE DIRECTORY [--check]`; `source` is where the types are."""
    directory = Path(arguments[0])
    wanted = {directory / f"{custom.group}_{custom.plural}.yaml": _text(custom, source) for custom in kinds}
    return _check(wanted) if CHECK in arguments else _write(directory, wanted)


def _text(custom: CustomKind, source: str) -> str:
    head = f"# Made from the types in {source} by `make generate`; do not edit.\n"
    return head + yaml.safe_dump(definition(custom), sort_keys=False, width=120, allow_unicode=True)


def _write(directory: Path, wanted: dict[Path, str]) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    for path, text in wanted.items():
        path.write_text(text)
    return 0


def _check(wanted: dict[Path, str]) -> int:
    stale = [str(path) for path, text in wanted.items() if not path.is_file() or path.read_text() != text]
    if stale:
        print(f"not what the types say: {', '.join(stale)}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0
