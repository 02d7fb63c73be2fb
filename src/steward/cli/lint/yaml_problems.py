"""Problems of the YAML itself, for any kind of object: duplicate keys, words of YAML 1.1, documents without an object.

Pure. Duplicate keys are errors: a server with strict decoding rejects them, others silently take the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import yaml

from steward.cli.documents import YAML_11_WORDS, Position
from steward.cli.lint.findings import Finding, finding_in_file

NO_MANIFEST: Final = "is not a manifest: expected an object with apiVersion, kind and metadata"


class YamlProblem(NamedTuple):
    position: Position
    message: str
    severity: str = "error"


def yaml_findings(file: str, text: str) -> list[Finding]:
    """Raises yaml.YAMLError for invalid YAML."""
    lines = text.splitlines()
    return [
        finding_in_file(file, lines, problem.position, problem.severity, problem.message)
        for problem in yaml_problems(text)
    ]


def yaml_problems(text: str) -> Iterator[YamlProblem]:
    """Raises yaml.YAMLError for invalid YAML."""
    for node in yaml.compose_all(text, yaml.CSafeLoader):
        if node is None or _is_null(node):
            continue
        if not isinstance(node, yaml.MappingNode):
            yield YamlProblem(_node_position(node), NO_MANIFEST)
        yield from _node_problems(node)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _node_problems(root: yaml.Node) -> Iterator[YamlProblem]:
    # Iterative, and each node once: an anchor may be used a million times, or inside itself.
    visited: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _key_problems(node)
            pending.extend(value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)
        elif word := _yaml_11_word(node):
            yield YamlProblem(_node_position(node), _value_message(node.value, word), "warning")


def _key_problems(node: yaml.MappingNode) -> Iterator[YamlProblem]:
    yield from _duplicate_keys(node)
    for key, _ in node.value:
        if word := _yaml_11_word(key):
            message = f'the name {key.value} is read as {word}: write "{key.value}"'
            yield YamlProblem(_node_position(key), message)


def _yaml_11_word(node: yaml.Node) -> str:
    """What kubectl reads a bare word as; empty if it is read as it is written."""
    is_bare = isinstance(node, yaml.ScalarNode) and not node.style
    return YAML_11_WORDS.get(node.value.lower(), "") if is_bare and _has_known_case(node.value) else ""


_CASES: Final[tuple[Callable[[str], str], ...]] = (str.lower, str.upper, str.capitalize)


def _has_known_case(word: str) -> bool:
    return any(word == change(word) for change in _CASES)


def _value_message(written: str, word: str) -> str:
    return f'{written} is read as {word}: write {word}, or "{written}" for the text'


def _duplicate_keys(node: yaml.MappingNode) -> Iterator[YamlProblem]:
    first: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            continue
        if key.value in first:
            line = first[key.value].start_mark.line + 1
            yield YamlProblem(
                _node_position(key), f"{key.value} is a duplicate key; the first is in line {line}"
            )
        first.setdefault(key.value, key)


def _node_position(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)
