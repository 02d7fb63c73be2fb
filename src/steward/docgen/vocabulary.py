"""Checks names against docs/design/vocabulary.md: `python -m steward.docgen.vocabulary`.

The page lists the words that this project does not use any more. A module, class or function whose name has one of them
fails the check. Names of variables and parameters are left to reviewers: common words are fine in small scopes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = Path("docs/design/vocabulary.md")
DIRECTORIES = ("src", "tests", "bench")
_IN_ANY_PART = "## Retired in every part of a name"
_AS_A_WHOLE = "## Retired as a whole name"
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_DEFINED = re.compile(r"\b(?:class|def)\s+(\w+)")
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class RetiredWords(NamedTuple):
    in_any_part: frozenset[str]
    as_a_whole: frozenset[str]

    def find(self, name: str) -> str:
        """The retired word that a name uses; empty if it uses none."""
        if name.strip("_").lower() in self.as_a_whole:
            return name.strip("_").lower()
        return next((word for word in _words(name) if word in self.in_any_part), "")


class RetiredName(NamedTuple):
    place: str
    name: str
    word: str

    def __str__(self) -> str:
        return f"{self.place}: {self.name} uses the retired word {self.word!r}: {PAGE} names the word to use"


def read_page(text: str) -> RetiredWords:
    return RetiredWords(_listed(text, _IN_ANY_PART), _listed(text, _AS_A_WHOLE))


def _listed(text: str, heading: str) -> frozenset[str]:
    _, found, rest = text.partition(heading)
    if not found:
        raise ValueError(f"{PAGE} lacks the heading {heading!r}")
    return frozenset(rest.partition("\n## ")[0].split())


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def retired_names(files: Iterable[Path], retired: RetiredWords) -> list[RetiredName]:
    return [found for file in files for found in _retired_in(file, retired)]


def _retired_in(file: Path, retired: RetiredWords) -> Iterator[RetiredName]:
    if word := retired.find(file.stem):
        yield RetiredName(str(file), file.stem, word)
    text = file.read_text()
    # Parsing all files takes seconds, and hardly any has such a word after `class` or `def`, even in a string.
    if not any(map(retired.find, _DEFINED.findall(text))):
        return
    for node in ast.walk(ast.parse(text, filename=str(file))):
        if isinstance(node, _DEFINITIONS) and (word := retired.find(node.name)):
            yield RetiredName(f"{file}:{node.lineno}", node.name, word)


def main(root: Path) -> int:
    retired = read_page((root / PAGE).read_text())
    files = sorted(file for name in DIRECTORIES for file in (root / name).rglob("*.py"))
    found = retired_names(files, retired)
    for each in found:
        print(each, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path()))
