"""Whether a file holds manifests at all: no key twice, and every document an object. Pure.

A server with strict decoding refuses a key that stands twice; one without takes the last and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import yaml

from steward.cli.documents import Position

NO_MANIFEST = "is no manifest: an object with apiVersion, kind and metadata is expected"


class Misshape(NamedTuple):
    position: Position
    message: str


def misshapen(text: str) -> Iterator[Misshape]:
    """yaml.YAMLError if it is no YAML."""
    for node in yaml.compose_all(text, yaml.CSafeLoader):
        if node is None or _is_empty(node):
            continue
        if not isinstance(node, yaml.MappingNode):
            yield Misshape(_at(node), NO_MANIFEST)
        yield from _twice(node)


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _twice(root: yaml.Node) -> Iterator[Misshape]:
    # Not recursive, and each node once: an anchor may be used a million times, or inside itself.
    seen: set[int] = set()
    rest = [root]
    while rest:
        node = rest.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            yield from _repeated(node)
            rest.extend(value for _, value in node.value)
        else:
            rest.extend(node.value)


def _repeated(node: yaml.MappingNode) -> Iterator[Misshape]:
    first: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            continue
        if key.value in first:
            line = first[key.value].start_mark.line + 1
            yield Misshape(_at(key), f"{key.value} stands twice; the first is in line {line}")
        first.setdefault(key.value, key)


def _at(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)
