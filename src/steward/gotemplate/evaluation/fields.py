"""What `.name` finds: a map's entry, a method's result, a struct's field; and what a missing one means.

Go keeps two nils apart, and so does this module: a value of static type interface{} that holds nil (`null` in data)
and no value at all (a missing key, a function's nil). Both are None here; `held` says which of them a None is.
"""

from __future__ import annotations

import enum
from typing import Any, Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import BadSignature, GoError
from steward.gotemplate.evaluation.runtime_errors import CallFault, Fault, FieldFault
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.values.values import ANY, STRING, Value, type_of


class MissingKey(enum.Enum):
    """What a key that a map does not have means. DEFAULTED: an error, except where the template handles absence."""

    DEFAULT = "default"
    ZERO = "zero"
    ERROR = "error"
    DEFAULTED = "defaulted"


class Null:
    """A None of static type interface{}, where an argument check must distinguish it from no value."""

    __slots__ = ()


NULL: Final = Null()
Step = tuple[Value, bool]
"""A value, and whether its static type is interface{}."""


class Fields:
    """Field access under one missing-key mode. `strict` is True where a missing key is an error."""

    def __init__(self, missing: MissingKey) -> None:
        self.strict = missing is MissingKey.ERROR
        self.zero = missing is MissingKey.ZERO

    def view(self, value: Value) -> View:
        """Lets generated code index a dot that is no plain map as if it were one."""
        return View(self, value)

    def field(self, value: Value, name: str) -> Value:
        return self.step(value, False, name)[0]

    def field_held(self, value: Value, name: str) -> Value:
        """As `field`, for a value of static type interface{}."""
        return self.step(value, True, name)[0]

    def walk(self, value: Value, *names: str) -> Value:
        found = value
        for name in names:
            if type(found) is not dict or name not in found:
                return self._walk(value, False, names)[0]
            found = found[name]
        return found

    def walk_held(self, value: Value, *names: str) -> Value:
        return self._walk(value, True, names)[0]

    def marked(self, value: Value, *names: str) -> Value:
        """As `walk`, but a nil that is held by an interface comes as NULL."""
        return _mark(self._walk(value, False, names))

    def marked_held(self, value: Value, *names: str) -> Value:
        return _mark(self._walk(value, True, names))

    def invoke(self, budget: Budget, value: Value, names: tuple[str, ...], operands: Any) -> Value:
        """A member that is given arguments."""
        return self._invoke(budget, self._walk(value, False, names[:-1]), names[-1], operands)

    def invoke_held(self, budget: Budget, value: Value, names: tuple[str, ...], operands: Any) -> Value:
        return self._invoke(budget, self._walk(value, True, names[:-1]), names[-1], operands)

    def _invoke(self, budget: Budget, step: Step, name: str, operands: Any) -> Value:
        from steward.gotemplate.evaluation.invocation import Call, invoke

        return invoke(self, step, Call(name, operands, budget))

    def _walk(self, value: Value, held: bool, names: tuple[str, ...]) -> Step:
        for name in names:
            value, held = self.step(value, held, name)
        return value, held

    def step(self, value: Value, held: bool, name: str) -> Step:
        if type(value) is dict:
            if name in value:
                return value[name], True
            return self.absent(name, ANY)
        if value is None:
            return self._of_nil(held, name)
        method = getattr(value, "go_methods", _NO_METHODS).get(name)
        if method is not None:
            return call_method(method, value, name), False
        if isinstance(value, dict):
            return self._of_map(value, name)
        return _struct_field(value, held, name)

    def _of_nil(self, held: bool, name: str) -> Step:
        if held:
            raise Fault(f"nil pointer evaluating interface {{}}.{name}")
        if self.strict:
            raise Fault(f"nil data; no entry for key {quote(name)}")
        return None, False

    def _of_map(self, entries: Any, name: str) -> Step:
        elem = type_of(entries).elem  # type: ignore[union-attr]
        if name in entries:
            return entries[name], elem is ANY
        return self.absent(name, elem)

    def absent(self, name: str, elem: Any) -> Step:
        if self.strict:
            raise Fault(f"map has no entry for key {quote(name)}")
        if self.zero:
            return ("" if elem is STRING else None), elem is ANY
        return None, False


class View:
    """A dot that is no plain map, with the two ways of indexing that generated code uses for plain maps."""

    __slots__ = ("fields", "value")

    def __init__(self, fields: Fields, value: Value) -> None:
        self.fields = fields
        self.value = value

    def __getitem__(self, name: str) -> Value:
        return self.fields.step(self.value, False, name)[0]

    get = __getitem__


_NO_METHODS: Final[dict[str, Any]] = {}


def _mark(step: Step) -> Value:
    value, held = step
    return NULL if held and value is None else value


def _struct_field(value: Value, held: bool, name: str) -> Step:
    found = type_of(value)
    text = f"can't evaluate field {name} in type "
    if found is not None and found.kind in ("struct", "ptr"):
        fields = value.go_fields()
        if name in fields and name[0].isupper():
            return fields[name], False
        if name in fields:
            text = f"{name} is an unexported field of struct type "
    concrete = text + (found.name if found else "nil")
    if held:
        raise FieldFault(f"{text}interface {{}}", concrete)
    raise Fault(concrete)


def call_method(method: Any, receiver: Value, name: str) -> Value:
    """A method without arguments."""
    if method.params:
        least = "" if method.rest is None else "at least "
        raise Fault(f"wrong number of args for {name}: want {least}{len(method.params)} got 0")
    try:
        return method.call(*[Budget()] * method.budgeted, receiver)
    except BadSignature as error:
        raise Fault(error.text) from None
    except GoError as error:
        raise CallFault(f"error calling {name}: {error.text}") from None
