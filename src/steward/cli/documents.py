"""YAML files as people wrote them: every document with the place of each of its fields.

A field is named as problems name it: `spec.deployments[web].spec.replicas`, where brackets hold an index or the id or
name of an item. What is not there is placed at the nearest thing around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

_STEP: Final = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_INDEX: Final = re.compile(r"[0-9]+")


class Position(NamedTuple):
    """Both count from 1."""

    line: int
    column: int


class Document(NamedTuple):
    file: str
    lines: list[str]
    """Of the whole file."""
    node: yaml.Node
    manifest: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.manifest.get("kind", ""))

    @property
    def name(self) -> str:
        return self._identified("name")

    @property
    def namespace(self) -> str:
        return self._identified("namespace")

    def _identified(self, word: str) -> str:
        metadata = self.manifest.get("metadata")
        return str(metadata.get(word, "")) if isinstance(metadata, dict) else ""

    def position(self, field: str, line: int | None = None, column: int | None = None) -> Position:
        """Where a field stands; with a line and a column (bytes from 0) inside the text that it holds."""
        _, mark, value = _found(self.node, field)
        if line is None or not isinstance(value, yaml.ScalarNode):
            return Position(mark.line + 1, mark.column + 1)
        return self._inside(value, line, column or 0)

    def key_position(self, field: str) -> Position:
        """Where a field's own name stands."""
        mark, _, _ = _found(self.node, field)
        return Position(mark.line + 1, mark.column + 1)

    def _inside(self, text: yaml.ScalarNode, line: int, column: int) -> Position:
        start = text.start_mark
        before = len(text.value.split("\n")[line - 1].encode()[:column].decode(errors="ignore"))
        if text.style == "|":
            return self._in_block(text, start.line + line, before)
        if text.style == ">" or text.end_mark.line != start.line:
            # Lines were joined: which of them it was is not known any more.
            return Position(start.line + 1, start.column + 1)
        return Position(start.line + 1, start.column + before + (2 if text.style else 1))

    def _in_block(self, text: yaml.ScalarNode, row: int, before: int) -> Position:
        """A block of text keeps its lines; an error at its very end is placed behind the last of them."""
        end = min(text.end_mark.line, len(self.lines))
        shown = self.lines[min(row, end - 1)]
        if row >= end:
            return Position(end, len(shown) + 1)
        return Position(row + 1, len(shown) - len(shown.lstrip(" ")) + before + 1)


def read_documents(file: str, text: str) -> Iterator[Document]:
    """Every object in the file, also of lists as kubectl prints them; yaml.YAMLError if it is no YAML."""
    loader = yaml.CSafeLoader(text)
    lines = text.splitlines()
    try:
        while loader.check_node():
            node = loader.get_node()
            value = loader.construct_document(node)
            for object_node, manifest in _objects(node, value):
                yield Document(file, lines, object_node, manifest)
    finally:
        loader.dispose()


def _objects(node: yaml.Node | None, value: Any) -> Iterator[tuple[yaml.Node, dict[str, Any]]]:
    if node is None:
        return iter(())
    items = _child(node, "items")
    if items is None or not isinstance(items[1], yaml.SequenceNode):
        pairs = [(node, value)]
    else:
        pairs = list(zip(items[1].value, value["items"], strict=True))
    return ((each, manifest) for each, manifest in pairs if isinstance(manifest, dict))


def _found(node: yaml.Node, field: str) -> tuple[yaml.Mark, yaml.Mark, yaml.Node | None]:
    """The marks of a field's name and of the field, and its node if it is there.

    A map or a list is placed at its name, a text at itself.
    """
    key = mark = node.start_mark
    for name, inside in _STEP.findall(field):
        child = _child(node, name or inside)
        if child is None:
            return key, mark, None
        key, node = child
        mark = node.start_mark if isinstance(node, yaml.ScalarNode) else key
    return key, mark, node


def _child(node: yaml.Node, name: str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark, value) for key, value in node.value if key.value == name), None)
    if not isinstance(node, yaml.SequenceNode):
        return None
    if _INDEX.fullmatch(name) and int(name) < len(node.value):
        item = node.value[int(name)]
        return item.start_mark, item
    return next(((item.start_mark, item) for item in node.value if _identity(item) == name), None)


def _identity(item: yaml.Node) -> str | None:
    for word in ("id", "name"):
        found = _child(item, word) if isinstance(item, yaml.MappingNode) else None
        if found is not None:
            return str(found[1].value)
    return None
