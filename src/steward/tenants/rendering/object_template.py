"""An object with templates in it, parsed once and filled for each row.

What holds no template is shared by all rows and never copied; what does is rendered exactly once, so that `{{` in the
value of a row stays text. Values of the template's own `int`, `float` and `bool` keep their type, except where the API
wants text whatever it looks like: labels, annotations, selectors, and the data of ConfigMaps and Secrets.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from steward.gotemplate import (
    DEFAULT_LIMITS,
    BudgetExceeded,
    Limits,
    Template,
    TemplateError,
    explain,
    parse,
)
from steward.tenants.errors import RenderError, TooLarge

Variables = Mapping[str, Any]

TEXT_FIELDS: Final = frozenset({"apiVersion", "kind"})
TEXT_MAPS: Final = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
PAYLOADS: Final = frozenset({"data", "stringData", "binaryData"})
PAYLOAD_KINDS: Final = frozenset({"ConfigMap", "Secret"})
ALL_STEPS: Final = 3_000_000
"""What all texts of a template may take together, about as many microseconds: nobody else gets a turn meanwhile."""
_TYPED_WORDS: Final = ("int", "float", "bool")


class Place(NamedTuple):
    """Where in a resource a value stands, and how to read it."""

    path: str
    profile: str
    text_only: bool = False
    limits: Limits = DEFAULT_LIMITS

    def below(self, name: str) -> "Place":
        return self._replace(path=f"{self.path}.{name}" if self.path else name)

    def at(self, index: int) -> "Place":
        return self._replace(path=f"{self.path}[{index}]")

    def as_text(self) -> "Place":
        return self._replace(text_only=True)


class Filling:
    """A row on its way into the objects of a Tenant, and how much of them may still be written."""

    __slots__ = ("left", "most", "variables")

    def __init__(self, variables: Variables, most: int) -> None:
        self.variables = variables
        self.most = most
        self.left = most

    def take(self, text: str, field: str) -> str:
        """TooLarge before all the texts of a Tenant that nobody could write take up the memory of others."""
        self.left -= len(text)
        if self.left < 0:
            told = f"the Tenant's objects are more than the {self.most} bytes that they may be together"
            raise TooLarge(field, f"{told}; shorten the row's values")
        return _checked(text, field)


def texts_in(value: Any) -> int:
    """How many texts hold a template."""
    if isinstance(value, str):
        return int("{{" in value)
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(texts_in, inside))


def limits_for(texts: int) -> Limits:
    """What one of so many texts may take. Up to thirty, as much as any."""
    steps = min(DEFAULT_LIMITS.steps, ALL_STEPS // max(1, texts))
    return DEFAULT_LIMITS if steps == DEFAULT_LIMITS.steps else DEFAULT_LIMITS._replace(steps=steps)


class Node(Protocol):
    """A part of an object that waits for its row."""

    def fill(self, filling: Filling) -> Any: ...


class Text(NamedTuple):
    """A template whose result is always text."""

    template: Template

    def fill(self, filling: Filling) -> str:
        try:
            text = self.template.render(filling.variables)
        except TemplateError as error:
            raise failed(self.template.name, error, filling.variables) from None
        return filling.take(text, self.template.name)


class Typed(NamedTuple):
    """A template whose result may be a number or a boolean."""

    template: Template

    def fill(self, filling: Filling) -> Any:
        try:
            value = self.template.render_value(filling.variables)
        except TemplateError as error:
            raise failed(self.template.name, error, filling.variables) from None
        return filling.take(value, self.template.name) if isinstance(value, str) else value


class Constant(NamedTuple):
    value: Any

    def fill(self, filling: Filling) -> Any:
        return self.value


class Fields(NamedTuple):
    members: tuple[tuple[str, Node], ...]

    def fill(self, filling: Filling) -> dict[str, Any]:
        return {name: node.fill(filling) for name, node in self.members}


class Items(NamedTuple):
    members: tuple[Node, ...]

    def fill(self, filling: Filling) -> list[Any]:
        return [node.fill(filling) for node in self.members]


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
        return parse(
            source,
            place.path,
            functions="tenants",
            profile=place.profile,
            missingkey="defaulted",
            limits=place.limits,
        )
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
