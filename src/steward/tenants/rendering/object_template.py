"""An object with templates in it, parsed once and rendered for each row. Pure.

Parts without a template are shared by all rows and never copied. Parts with a template are rendered exactly once, so
that `{{` in the value of a row stays text. Results of the template functions `int`, `float` and `bool` keep their
type, except where the API requires text: labels, annotations, selectors, and the data of ConfigMaps and Secrets.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
MAX_STEPS: Final = 3_000_000
"""For all texts of a template together; about as many microseconds, during which nothing else in the process runs."""
_TYPED_WORDS: Final = ("int", "float", "bool")


class TemplatePosition(NamedTuple):
    """The position of a value in a resource, and how templates in it are parsed."""

    path: str
    profile: str
    text_only: bool = False
    limits: Limits = DEFAULT_LIMITS

    def field(self, name: str) -> "TemplatePosition":
        return self._replace(path=f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> "TemplatePosition":
        return self._replace(path=f"{self.path}[{index}]")

    def as_text(self) -> "TemplatePosition":
        return self._replace(text_only=True)


class RenderContext:
    """The variables of a row, and how many bytes its objects may still take."""

    __slots__ = ("limit", "remaining", "variables")

    def __init__(self, variables: Variables, limit: int) -> None:
        self.variables = variables
        self.limit = limit
        self.remaining = limit

    @contextmanager
    def with_variables(self, more: Variables) -> Iterator[None]:
        """Texts that are rendered inside also have these variables; their size counts as that of all others."""
        before = self.variables
        self.variables = {**before, **more}
        try:
            yield
        finally:
            self.variables = before

    def consume(self, text: str, field: str) -> str:
        """Counts a rendered text. TooLarge as soon as the Tenant would be too large to be written, to save memory."""
        self.remaining -= len(text)
        if self.remaining < 0:
            message = f"the Tenant's objects are more than the {self.limit} bytes that they may be together"
            raise TooLarge(field, f"{message}; shorten the row's values")
        return _check_utf8(text, field)


def count_templates(value: Any) -> int:
    """The number of texts that contain a template."""
    if isinstance(value, str):
        return int("{{" in value)
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum(map(count_templates, children))


def limits_for(texts: int) -> Limits:
    """The limits of one text, given the number of texts. Up to thirty texts have the default limits."""
    steps = min(DEFAULT_LIMITS.steps, MAX_STEPS // max(1, texts))
    return DEFAULT_LIMITS if steps == DEFAULT_LIMITS.steps else DEFAULT_LIMITS._replace(steps=steps)


class TemplateNode(Protocol):
    """A part of an object that is rendered for each row."""

    def render(self, context: RenderContext) -> Any: ...


class TextNode(NamedTuple):
    """A template whose result is always text."""

    template: Template

    def render(self, context: RenderContext) -> str:
        try:
            text = self.template.render(context.variables)
        except TemplateError as error:
            raise render_error(self.template.name, error, context.variables) from None
        return context.consume(text, self.template.name)


class TypedNode(NamedTuple):
    """A template whose result may be a number or a boolean."""

    template: Template

    def render(self, context: RenderContext) -> Any:
        try:
            value = self.template.render_value(context.variables)
        except TemplateError as error:
            raise render_error(self.template.name, error, context.variables) from None
        return context.consume(value, self.template.name) if isinstance(value, str) else value


class ConstantNode(NamedTuple):
    value: Any

    def render(self, context: RenderContext) -> Any:
        return self.value


class MapNode(NamedTuple):
    members: tuple[tuple[str, TemplateNode], ...]

    def render(self, context: RenderContext) -> dict[str, Any]:
        return {name: node.render(context) for name, node in self.members}


class ListNode(NamedTuple):
    members: tuple[TemplateNode, ...]

    def render(self, context: RenderContext) -> list[Any]:
        return [node.render(context) for node in self.members]


def prepare_value(value: Any, position: TemplatePosition) -> TemplateNode:
    """Parses all templates in a value. RenderError where a text is no valid template."""
    if isinstance(value, str):
        return _text(value, position)
    if isinstance(value, dict):
        return _fields(value, position)
    if isinstance(value, list):
        items = tuple(prepare_value(item, position.item(index)) for index, item in enumerate(value))
        return (
            ConstantNode(value) if all(isinstance(item, ConstantNode) for item in items) else ListNode(items)
        )
    return ConstantNode(value)


def prepare_object(manifest: dict[str, Any], position: TemplatePosition) -> TemplateNode:
    """Parses an object; its kind decides whether `data` is text. A kind that is a template may be any."""
    kind = str(manifest.get("kind"))
    if kind not in PAYLOAD_KINDS and "{{" not in kind:
        return prepare_value(manifest, position)
    members = {
        name: prepare_value(
            value, position.field(name).as_text() if name in PAYLOADS else _child_position(name, position)
        )
        for name, value in manifest.items()
    }
    return _map_node(manifest, members)


def _fields(value: dict[str, Any], position: TemplatePosition) -> TemplateNode:
    return _map_node(
        value, {name: prepare_value(child, _child_position(name, position)) for name, child in value.items()}
    )


def _child_position(name: str, position: TemplatePosition) -> TemplatePosition:
    child = position.field(name)
    return child.as_text() if name in TEXT_MAPS or name in TEXT_FIELDS else child


def _map_node(value: dict[str, Any], members: dict[str, TemplateNode]) -> TemplateNode:
    if all(isinstance(node, ConstantNode) for node in members.values()):
        return ConstantNode(value)
    return MapNode(tuple(members.items()))


def _text(source: str, position: TemplatePosition) -> TemplateNode:
    if "{{" not in source:
        return ConstantNode(source)
    template = parse_template(source, position)
    if not position.text_only and any(word in source for word in _TYPED_WORDS):
        return TypedNode(template)
    return TextNode(template)


def parse_template(source: str, position: TemplatePosition) -> Template:
    try:
        return parse(
            source,
            position.path,
            functions="tenants",
            profile=position.profile,
            missingkey="defaulted",
            limits=position.limits,
        )
    except TemplateError as error:
        raise render_error(position.path, error, {}) from None


def render_error(field: str, error: TemplateError, variables: Variables) -> RenderError:
    """The message of Go's template engine, the line with a caret, the known variables, and the cure."""
    message = explain(error, dict(variables)) + profile_cure(error.text)
    if "no entry for key" in error.text:
        message += "\nadd it to extraValueMappings of the registry, or write {{ default ... }} where it may be missing"
    if isinstance(error, BudgetExceeded):
        return TooLarge(field, f"{message}\nshorten the row's values", error.line, error.column)
    return RenderError(field, message, error.line, error.column)


def profile_cure(problem: str) -> str:
    """What to do about a function that the profile of the registry does not have; empty for other problems."""
    if "it is in profile full" not in problem:
        return ""
    return (
        "\nits result differs each time. For a password, use generate of a Secret. Otherwise set templateProfile: full "
        "in the TenantRegistry, and creationPolicy: Once here, so that it is called once for each Tenant"
    )


def _check_utf8(text: str, field: str) -> str:
    """Bytes that are not UTF-8, for example from b64dec, cannot be sent to an API server."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RenderError(field, "renders bytes that are not UTF-8; encode them with b64enc") from None
    return text
