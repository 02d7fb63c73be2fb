"""Parses YAML files and locates fields by line and column.

Fields are named as in validation problems: `spec.deployments[web].spec.replicas`, where brackets hold an index or the
id or name of an item. A missing field gets the position of its nearest existing parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

YAML_11_WORDS: Final = dict.fromkeys(("y", "yes", "on"), "true") | dict.fromkeys(("n", "no", "off"), "false")
"""Bare words that kubectl, which reads YAML 1.1, takes for booleans."""
_STEP: Final = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_INDEX: Final = re.compile(r"[0-9]+")


class ManifestLoader(yaml.CSafeLoader):
    """Reads YAML as kubectl does: `y` and `n` are booleans, dates are texts, and every key of a map is a text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        return {_key_text(key): value for key, value in super().construct_mapping(node, deep).items()}


def _construct_bool(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> bool:
    word = _construct_text(loader, node).lower()
    return YAML_11_WORDS.get(word, word) == "true"


def _construct_text(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


ManifestLoader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))
ManifestLoader.add_constructor("tag:yaml.org,2002:bool", _construct_bool)
ManifestLoader.add_constructor("tag:yaml.org,2002:timestamp", _construct_text)


def _key_text(key: Any) -> Any:
    if isinstance(key, bool):
        return str(key).lower()
    return str(key) if isinstance(key, int | float) else key


class Position(NamedTuple):
    """Line and column, both counted from 1."""

    line: int
    column: int


class Document(NamedTuple):
    file: str
    lines: list[str]
    """All lines of the file."""
    node: yaml.Node
    manifest: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.manifest.get("kind", ""))

    @property
    def name(self) -> str:
        return self._metadata_field("name")

    @property
    def namespace(self) -> str:
        return self._metadata_field("namespace")

    def _metadata_field(self, field: str) -> str:
        metadata = self.manifest.get("metadata")
        return str(metadata.get(field, "")) if isinstance(metadata, dict) else ""

    def position(self, field: str, line: int | None = None, column: int | None = None) -> Position:
        """Position of a field; with `line` and `column` (bytes, from 0), a position inside its text."""
        _, mark, value = _locate_field(self.node, field)
        if line is None or not isinstance(value, yaml.ScalarNode):
            return Position(mark.line + 1, mark.column + 1)
        return self._position_in_text(value, line, column or 0)

    def key_position(self, field: str) -> Position:
        """Position of the name of a field."""
        mark, _, _ = _locate_field(self.node, field)
        return Position(mark.line + 1, mark.column + 1)

    def _position_in_text(self, text: yaml.ScalarNode, line: int, column: int) -> Position:
        start = text.start_mark
        offset = len(text.value.split("\n")[line - 1].encode()[:column].decode(errors="ignore"))
        if text.style == "|":
            return self._position_in_block(text, start.line + line, offset)
        if text.style == ">" or text.end_mark.line != start.line:
            # YAML joins these lines, so the original line is unknown.
            return Position(start.line + 1, start.column + 1)
        return Position(start.line + 1, start.column + offset + (2 if text.style else 1))

    def _position_in_block(self, text: yaml.ScalarNode, row: int, offset: int) -> Position:
        """A block scalar keeps its lines; an error at its end is placed after the last line."""
        end = min(text.end_mark.line, len(self.lines))
        shown = self.lines[min(row, end - 1)]
        if row >= end:
            return Position(end, len(shown) + 1)
        return Position(row + 1, len(shown) - len(shown.lstrip(" ")) + offset + 1)


def parse_documents(file: str, text: str) -> Iterator[Document]:
    """Yields every object in the file, including items of lists. Raises yaml.YAMLError for invalid YAML."""
    loader = ManifestLoader(text)
    lines = text.splitlines()
    try:
        while loader.check_node():
            node = loader.get_node()
            value = loader.construct_document(node)
            for object_node, manifest in _split_list(node, value):
                yield Document(file, lines, object_node, manifest)
    finally:
        loader.dispose()


def _split_list(node: yaml.Node | None, value: Any) -> Iterator[tuple[yaml.Node, dict[str, Any]]]:
    if node is None:
        return iter(())
    items = _child_node(node, "items")
    if items is None or not isinstance(items[1], yaml.SequenceNode):
        pairs = [(node, value)]
    else:
        pairs = list(zip(items[1].value, value["items"], strict=True))
    return ((item, manifest) for item, manifest in pairs if isinstance(manifest, dict))


def _locate_field(node: yaml.Node, field: str) -> tuple[yaml.Mark, yaml.Mark, yaml.Node | None]:
    """Returns the marks of the field name and of the field, and the node if the field exists.

    Maps and lists get the position of their name, scalars their own.
    """
    key = mark = node.start_mark
    for name, inside in _STEP.findall(field):
        child = _child_node(node, name or inside)
        if child is None:
            return key, mark, None
        key, node = child
        mark = node.start_mark if isinstance(node, yaml.ScalarNode) else key
    return key, mark, node


def _child_node(node: yaml.Node, name: str) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark, value) for key, value in node.value if name in _key_names(key)), None)
    if not isinstance(node, yaml.SequenceNode):
        return None
    if _INDEX.fullmatch(name) and int(name) < len(node.value):
        item = node.value[int(name)]
        return item.start_mark, item
    return next(((item.start_mark, item) for item in node.value if _item_name(item) == name), None)


def _key_names(key: yaml.Node) -> tuple[Any, ...]:
    """The name as it is written, and as it is read."""
    return key.value, YAML_11_WORDS.get(str(key.value).lower())


def _item_name(item: yaml.Node) -> str | None:
    for key in ("id", "name"):
        found = _child_node(item, key) if isinstance(item, yaml.MappingNode) else None
        if found is not None:
            return str(found[1].value)
    return None
