"""Reads files named on the command line; errors name the file, line and column."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from steward.cli.documents import Document, parse_documents


class UnreadableFile(ValueError):
    """The file is not UTF-8 text or not YAML."""


def read_text(file: Path) -> str:
    """Reads the file, or standard input for `-`."""
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{file} is not UTF-8 text: byte {error.start + 1} cannot be read") from None


def read_documents(file: Path) -> list[Document]:
    text = read_text(file)
    with _yaml_errors(file):
        return list(parse_documents(str(file), text))


def read_yaml(file: Path) -> Any:
    """The only document in the file; None for an empty file."""
    text = read_text(file)
    with _yaml_errors(file):
        return yaml.load(text, yaml.CSafeLoader)


@contextmanager
def _yaml_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UnreadableFile(
            f"{file}{place} is not valid YAML: {getattr(error, 'problem', None) or error}"
        ) from None
