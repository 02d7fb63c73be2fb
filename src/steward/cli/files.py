"""Files that users name: read whole, and what cannot be read is one sentence with the place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from steward.cli.documents import Document, read_documents


class NotReadable(ValueError):
    """A file that is no text, or no YAML."""


def text_of(file: Path) -> str:
    """Of standard input where the file is `-`."""
    content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotReadable(f"{file} is no text in UTF-8: byte {error.start + 1} cannot be read") from None


def documents_of(file: Path) -> list[Document]:
    text = text_of(file)
    with _read_as_yaml(file):
        return list(read_documents(str(file), text))


def yaml_of(file: Path) -> Any:
    """The one document in it; None if there is none."""
    text = text_of(file)
    with _read_as_yaml(file):
        return yaml.load(text, yaml.CSafeLoader)


@contextmanager
def _read_as_yaml(file: Path) -> Iterator[None]:
    try:
        yield
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise NotReadable(f"{file}{place} is no YAML: {getattr(error, 'problem', None) or error}") from None
