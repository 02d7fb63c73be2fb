"""An object with templates in it, parsed once and filled for each row.

What holds no template is shared by all rows and never copied; what does is rendered exactly once, so that `{{` in the
value of a row stays text. Values of the template's own `int`, `float` and `bool` keep their type, except where the API
wants text whatever it looks like: labels, annotations, selectors, and the data of ConfigMaps and Secrets.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from steward.gotemplate import BudgetExceeded, Template, TemplateError, explain, parse
from steward.tenants.errors import RenderError, TooLarge

Variables = Mapping[str, Any]

TEXT_FIELDS: Final = frozenset({"apiVersion", "kind"})
TEXT_MAPS: Final = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
PAYLOADS: Final = frozenset({"data", "stringData", "binaryData"})
PAYLOAD_KINDS: Final = frozenset({"ConfigMap", "Secret"})
_TYPED_WORDS: Final = ("int", "float", "bool")


class Place(NamedTuple):
    """Where in a resource a value stands, and how to read it."""

    path: str
    profile: str
    text_only: bool = False

    def below(self, name: str) -> "Place":
        return self._replace(path=f"{self.path}.{name}" if self.path else name)

    def at(self, index: int) -> "Place":
        return self._replace(path=f"{self.path}[{index}]")

    def as_text(self) -> "Place":
        return self._replace(text_only=True)


class Node(Protocol):
    """A part of an object that waits for its row."""

    def fill(self, variables: Variables) -> Any: ...


class Text(NamedTuple):
    """A template whose result is always text."""

    template: Template

    def fill(self, variables: Variables) -> str:
        try:
            return _checked(self.template.render(variables), self.template.name)
        except TemplateError as error:
            raise failed(self.template.name, error, variables) from None


class Typed(NamedTuple):
    """A template whose result may be a number or a boolean."""

    template: Template

    def fill(self, variables: Variables) -> Any:
        try:
            value = self.template.render_value(variables)
        except TemplateError as error:
            raise failed(self.template.name, error, variables) from None
        return _checked(value, self.template.name) if isinstance(value, str) else value


class Constant(NamedTuple):
    value: Any

    def fill(self, variables: Variables) -> Any:
        return self.value


class Fields(NamedTuple):
    members: tuple[tuple[str, Node], ...]

    def fill(self, variables: Variables) -> dict[str, Any]:
        return {name: node.fill(variables) for name, node in self.members}


class Items(NamedTuple):
    members: tuple[Node, ...]

    def fill(self, variables: Variables) -> list[Any]:
        return [node.fill(variables) for node in self.members]


def prepare(value: Any, place: Place) -> Node:
    """RenderError where a text is no template."""
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, dict):
        return _fields(value, place)
    if isinstance(value, list):
        items = tuple(prepare(item, place.at(index)) for index, item in enumerate(value))
        return Constant(value) if all(isinstance(item, Constant) for item in items) else Items(items)
    return Constant(value)


def prepare_object(manifest: dict[str, Any], place: Place) -> Node:
    """A whole object, whose kind decides what its data is. A kind that is a template itself may be any."""
    kind = str(manifest.get("kind"))
    if kind not in PAYLOAD_KINDS and "{{" not in kind:
        return prepare(manifest, place)
    members = {
        name: prepare(value, place.below(name).as_text() if name in PAYLOADS else _inside(name, place))
        for name, value in manifest.items()
    }
    return _gathered(manifest, members)


def _fields(value: dict[str, Any], place: Place) -> Node:
    return _gathered(value, {name: prepare(child, _inside(name, place)) for name, child in value.items()})


def _inside(name: str, place: Place) -> Place:
    below = place.below(name)
    return below.as_text() if name in TEXT_MAPS or name in TEXT_FIELDS else below


def _gathered(value: dict[str, Any], members: dict[str, Node]) -> Node:
    if all(isinstance(node, Constant) for node in members.values()):
        return Constant(value)
    return Fields(tuple(members.items()))


def _text(source: str, place: Place) -> Node:
    if "{{" not in source:
        return Constant(source)
    template = parsed(source, place)
    if not place.text_only and any(word in source for word in _TYPED_WORDS):
        return Typed(template)
    return Text(template)


def parsed(source: str, place: Place) -> Template:
    try:
        return parse(source, place.path, functions="tenants", profile=place.profile, missingkey="defaulted")
    except TemplateError as error:
        raise failed(place.path, error, {}) from None


def failed(field: str, error: TemplateError, variables: Variables) -> RenderError:
    """Go's words, the line with a caret, what there is, and the cure."""
    told = explain(error, dict(variables))
    if "no entry for key" in error.text:
        told += "\nadd it to extraValueMappings of the registry, or write {{ default ... }} where it may be missing"
    if isinstance(error, BudgetExceeded):
        return TooLarge(field, f"{told}\nshorten the row's values", error.line, error.column)
    return RenderError(field, told, error.line, error.column)


def _checked(text: str, field: str) -> str:
    """Bytes that are no text (of b64dec, say) cannot be sent to an API server."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RenderError(field, "renders bytes that are not UTF-8; encode them with b64enc") from None
    return text
