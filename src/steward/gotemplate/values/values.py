"""How each Go value looks in Python, and what Go type a Python value has.

The invariant: every value that a template can touch is one of the shapes below, so `type_of` is total, and a Python
type names exactly one Go type. The common ones are plain Python (str, int, float, bool, dict, list), because they are
what data is made of and what must be fast; everything rarer is a small class that carries `go_type`.

    string                  str   bytes that are no UTF-8 are U+DC80..U+DCFF (surrogateescape), always canonical
    int, float64, bool      int, float, bool
    int64, uint8, ...       Int64, Uint8, ... (subclasses of int)
    complex128              complex
    map[string]interface{}  dict
    []interface{}           list
    []string, []int, ...    StringSlice, IntSlice, ... (subclasses of list)
    []byte                  ByteSlice (a subclass of bytes)
    map[string]string       StringMap (a subclass of dict)
    a nil slice or map      the class of its type, empty, with is_nil set (`nil_list()`, `StringSlice.nil()`)
    untyped nil             None
    anything else           an object with go_type (time.Time, *semver.Version, ...), go_methods and go_fields
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Protocol, Self, runtime_checkable

Value = Any
"""A Go value as Python holds it; mypy cannot say more, because a template is dynamically typed."""


class GoType:
    """A Go type by its reflect name. One instance a name: compare with `is`."""

    __slots__ = ("elem", "kind", "name", "nilable")

    def __init__(self, name: str, kind: str, elem: GoType | None = None) -> None:
        self.name = name
        self.kind = kind
        self.elem = elem
        self.nilable = kind in NILABLE_KINDS

    def __repr__(self) -> str:
        return f"GoType({self.name})"


NILABLE_KINDS: Final = frozenset({"chan", "func", "interface", "map", "ptr", "slice", "struct-value"})
INTEGER_KINDS: Final = (
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintptr",
)
BASIC_KINDS: Final = ("bool", "string", "float32", "float64", "complex64", "complex128", *INTEGER_KINDS)

_TYPES: Final[dict[str, GoType]] = {}


def go_type(name: str, kind: str | None = None) -> GoType:
    """The one GoType of that name. `any` may be written for `interface {}`; named types give their kind once."""
    full = name.replace("interface{}", "any").replace("interface {}", "any").replace("any", "interface {}")
    known = _TYPES.get(full)
    if known is None:
        known = _TYPES[full] = _describe(full, kind)
    return known


def _describe(name: str, kind: str | None) -> GoType:
    if name.startswith("[]"):
        return GoType(name, "slice", go_type(name[2:]))
    if name.startswith("map[string]"):
        return GoType(name, "map", go_type(name[len("map[string]") :]))
    if name == "interface {}":
        return GoType(name, "interface")
    if kind is None and name.startswith("*"):
        return GoType(name, "ptr")
    if kind is None and name not in BASIC_KINDS:
        kind = "struct"
    return GoType(name, kind or name)


BOOL: Final = go_type("bool")
INT: Final = go_type("int")
INT64: Final = go_type("int64")
UINT8: Final = go_type("uint8")
FLOAT64: Final = go_type("float64")
COMPLEX128: Final = go_type("complex128")
STRING: Final = go_type("string")
ANY: Final = go_type("any")
LIST: Final = go_type("[]any")
DICT: Final = go_type("map[string]any")
STRINGS: Final = go_type("[]string")
REFLECT_VALUE: Final = go_type("reflect.Value", "struct-value")
ERROR: Final = go_type("error", "interface")


class Int(int):
    """An integer whose Go type is not plain `int`; `wrap` wraps to the type's width as Go's conversions do."""

    go_type: ClassVar[GoType]
    bits: ClassVar[int]
    signed: ClassVar[bool]

    @classmethod
    def wrap(cls, number: int) -> Self:
        return cls(wrap_signed(number, cls.bits) if cls.signed else number & ((1 << cls.bits) - 1))


class Int8(Int):
    go_type, bits, signed = go_type("int8"), 8, True


class Int16(Int):
    go_type, bits, signed = go_type("int16"), 16, True


class Int32(Int):
    go_type, bits, signed = go_type("int32"), 32, True


class Int64(Int):
    go_type, bits, signed = INT64, 64, True


class Uint(Int):
    go_type, bits, signed = go_type("uint"), 64, False


class Uint8(Int):
    go_type, bits, signed = UINT8, 8, False


class Uint16(Int):
    go_type, bits, signed = go_type("uint16"), 16, False


class Uint32(Int):
    go_type, bits, signed = go_type("uint32"), 32, False


class Uint64(Int):
    go_type, bits, signed = go_type("uint64"), 64, False


class Uintptr(Int):
    go_type, bits, signed = go_type("uintptr"), 64, False


class Float32(float):
    go_type: ClassVar[GoType] = go_type("float32")


class Slice(list[Value]):
    """A slice that is no `[]interface{}`, or a nil one. Subclasses name the type."""

    go_type: ClassVar[GoType]
    is_nil: bool = False
    capacity: int | None = None
    """How many items Go has room for, where that is not what appending them one by one gives."""

    @classmethod
    def nil(cls) -> Self:
        made = cls()
        made.is_nil = True
        return made


class NilList(Slice):
    """The nil `[]interface{}`; a list that is not nil is a plain Python list."""

    go_type = LIST
    is_nil = True


class StringSlice(Slice):
    go_type = STRINGS


class IntSlice(Slice):
    go_type = go_type("[]int")


class Float64Slice(Slice):
    go_type = go_type("[]float64")


class ListSlice(Slice):
    go_type = go_type("[][]any")


class DictSlice(Slice):
    go_type = go_type("[]map[string]any")


class ByteSlice(bytes):
    go_type: ClassVar[GoType] = go_type("[]uint8")
    is_nil: ClassVar[bool] = False


class Map(dict[str, Value]):
    """A map that is no `map[string]interface{}`, or a nil one."""

    go_type: ClassVar[GoType]
    is_nil: bool = False

    @classmethod
    def nil(cls) -> Self:
        made = cls()
        made.is_nil = True
        return made


class NilDict(Map):
    """The nil `map[string]interface{}`; writing to it is Go's panic `assignment to entry in nil map`."""

    go_type = DICT
    is_nil = True


class StringMap(Map):
    go_type = go_type("map[string]string")


@runtime_checkable
class GoObject(Protocol):
    """A struct or pointer of Go's: time.Time, *semver.Version, a certificate.

    go_methods: what `.Name arg` may call; each is a registry.Function whose implementation gets the receiver first.
    go_fields:  exported and unexported fields in Go's order, for fmt; only the exported ones are reachable by `.Name`.
    A `String` (or `Error`) among the methods is what fmt prints, as in Go.
    """

    go_type: GoType
    go_methods: Mapping[str, Any]

    def go_fields(self) -> Mapping[str, Value]: ...


def nil_list() -> NilList:
    return NilList()


_PLAIN: Final[dict[type, GoType]] = {
    str: STRING,
    bool: BOOL,
    int: INT,
    float: FLOAT64,
    complex: COMPLEX128,
    dict: DICT,
    list: LIST,
}


def type_of(value: Value) -> GoType | None:
    """The Go type of a value; None for the untyped nil."""
    found = _PLAIN.get(type(value))
    if found is None and value is not None:
        found = value.go_type
    return found


def kind_of(value: Value) -> str:
    """reflect's Kind().String(): `invalid` for the untyped nil."""
    found = type_of(value)
    return "invalid" if found is None else found.kind


def is_nil(value: Value) -> bool:
    """True for the untyped nil and for nil slices and maps."""
    return value is None or getattr(value, "is_nil", False) is True


def sorted_keys(entries: dict[str, Value]) -> list[str]:
    """Keys in the order of their bytes, as Go sorts strings. Characters sort alike, except stray bytes."""
    keys = sorted(entries)
    if "".join(keys).isascii():
        return keys
    return sorted(keys, key=to_bytes)


def wrap_signed(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return ((number + half) & ((1 << bits) - 1)) - half


def wrap_int64(number: int) -> int:
    """An int64 (or int) result as Go's arithmetic wraps it."""
    if -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
        return number
    return wrap_signed(number, 64)


def to_bytes(text: str) -> bytes:
    """The bytes of a Go string."""
    if text.isascii():
        return text.encode("ascii")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _without_foreign_surrogates(text).encode("utf-8", "surrogateescape")


def _without_foreign_surrogates(text: str) -> str:
    # Only U+DC80..U+DCFF stand for bytes; any other surrogate came from outside and is no character.
    return "".join("�" if "\ud800" <= c <= "\udfff" and not "\udc80" <= c <= "\udcff" else c for c in text)


def from_bytes(data: bytes) -> str:
    """The Go string of some bytes, canonical."""
    return data.decode("utf-8", "surrogateescape")


def canonical(text: str) -> str:
    """Join what concatenation put side by side: two halves of one rune become that rune."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return from_bytes(to_bytes(text))
    return text


def byte_length(text: str) -> int:
    """Go's len of a string."""
    return len(text) if text.isascii() else len(to_bytes(text))


Implementation = Callable[..., Value]
