"""encoding/json's Unmarshal into an empty interface: numbers are float64, and the errors are Go's.

One pass over the text with its own stack, since Go reads nesting ten thousand deep.
"""

from __future__ import annotations

import re
from typing import Any

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.values.utf8 import repaired
from steward.gotemplate.values.values import to_bytes

_MAX_DEPTH = 10_000
_SPACE = re.compile(r"[ \t\r\n]*")
_SIMPLE_STRING = re.compile(r'"([^"\\\x00-\x1f]*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_LITERALS: dict[str, Any] = {"true": True, "false": False, "null": None}
_HEX = frozenset("0123456789abcdefABCDEF")


def unmarshal(text: str) -> tuple[Any, GoError | None]:
    """The value, and the first number that did not fit (it is nil in the value). Bad syntax raises."""
    decoder = _Decoder(text)
    return decoder.document(), decoder.misfit


class _Decoder:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.misfit: GoError | None = None

    def document(self) -> Any:
        stack: list[Any] = []
        keys: list[str] = []
        value = self.begin_value(stack, keys)
        while stack:
            value = self.continue_value(value, stack, keys)
        self.skip_space()
        if self.at < len(self.text):
            raise self.unexpected("after top-level value")
        return value

    def begin_value(self, stack: list[Any], keys: list[str]) -> Any:
        """Reads a scalar or an empty container; an opened container goes on the stack and its first value is read."""
        while True:
            char = self.next_char("looking for beginning of value")
            if char == "[":
                opened: Any = self.open([], stack)
                if self.next_is("]"):
                    return stack.pop()
            elif char == "{":
                opened = self.open({}, stack)
                if self.next_is("}"):
                    return stack.pop()
                keys.append(self.key())
            else:
                return self.scalar(char)
            del opened

    def open(self, container: Any, stack: list[Any]) -> Any:
        if len(stack) >= _MAX_DEPTH:
            raise self.unexpected("exceeded max depth")
        self.at += 1
        stack.append(container)
        return container

    def continue_value(self, value: Any, stack: list[Any], keys: list[str]) -> Any:
        """Puts a finished value where it belongs and reads what follows it."""
        top = stack[-1]
        if isinstance(top, list):
            top.append(value)
            char = self.next_char("after array element")
            closing, context = "]", "after array element"
        else:
            top[keys.pop()] = value
            char = self.next_char("after object key:value pair")
            closing, context = "}", "after object key:value pair"
        if char == closing:
            self.at += 1
            return stack.pop()
        if char != ",":
            raise self.unexpected(context)
        self.at += 1
        if isinstance(top, dict):
            keys.append(self.key())
        return self.begin_value(stack, keys)

    def key(self) -> str:
        if self.next_char("looking for beginning of object key string") != '"':
            raise self.unexpected("looking for beginning of object key string")
        key = self.string()
        if self.next_char("after object key") != ":":
            raise self.unexpected("after object key")
        self.at += 1
        return key

    def skip_space(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]

    def next_char(self, context: str) -> str:
        self.skip_space()
        if self.at >= len(self.text):
            raise GoError("unexpected end of JSON input")
        return self.text[self.at]

    def next_is(self, char: str) -> bool:
        self.skip_space()
        if self.text.startswith(char, self.at):
            self.at += 1
            return True
        return False

    def scalar(self, char: str) -> Any:
        if char == '"':
            return self.string()
        if char == "-" or "0" <= char <= "9":
            return self.number()
        if char in "tfn":
            return self.literal({"t": "true", "f": "false", "n": "null"}[char])
        raise self.unexpected("looking for beginning of value")

    def literal(self, word: str) -> Any:
        for letter in word:
            if self.text[self.at : self.at + 1] != letter:
                raise self.unexpected(f"in literal {word} (expecting {_quoted(letter)})")
            self.at += 1
        return _LITERALS[word]

    def number(self) -> float | None:
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            self.at += 1
            raise self.unexpected("in numeric literal")
        self.at = found.end()
        self.check_number_end(found.group())
        value = float(found.group())
        if value in (float("inf"), float("-inf")):
            self.misfit = self.misfit or GoError(
                f"json: cannot unmarshal number {found.group()} into Go value of type float64"
            )
            return None
        return value

    def check_number_end(self, number: str) -> None:
        """`1.` and `1e` are numbers that stopped too early, and Go says where."""
        following = self.text[self.at : self.at + 1]
        if following == "." and "." not in number and "e" not in number.lower():
            self.at += 1
            raise self.unexpected("after decimal point in numeric literal")
        if following in ("e", "E") and "e" not in number.lower():
            self.at += 1
            if self.text[self.at : self.at + 1] in ("+", "-"):
                self.at += 1
            raise self.unexpected("in exponent of numeric literal")

    def string(self) -> str:
        found = _SIMPLE_STRING.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            return repaired(found.group(1))
        self.at += 1
        out: list[str] = []
        while True:
            char = self.string_char()
            if char == '"':
                return repaired("".join(out))
            out.append(self.escape() if char == "\\" else char)

    def string_char(self) -> str:
        if self.at >= len(self.text):
            raise GoError("unexpected end of JSON input")
        char = self.text[self.at]
        if char < " ":
            raise self.unexpected("in string literal")
        self.at += 1
        return char

    def escape(self) -> str:
        char = self.text[self.at : self.at + 1]
        if char == "u":
            self.at += 1
            return self.unicode_escape()
        if char not in _ESCAPES:
            raise self.unexpected("in string escape code")
        self.at += 1
        return _ESCAPES[char]

    def unicode_escape(self) -> str:
        code = self.four_digits()
        if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", self.at):
            low = self.peek_four_digits()
            if low is not None and 0xDC00 <= low < 0xE000:
                self.at += 6
                return chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00)
        return "\ufffd" if 0xD800 <= code < 0xE000 else chr(code)

    def four_digits(self) -> int:
        start = self.at
        for _ in range(4):
            if self.text[self.at : self.at + 1] not in _HEX:
                raise self.unexpected("in \\u hexadecimal character escape")
            self.at += 1
        return int(self.text[start : self.at], 16)

    def peek_four_digits(self) -> int | None:
        digits = self.text[self.at + 2 : self.at + 6]
        return int(digits, 16) if len(digits) == 4 and _HEX.issuperset(digits) else None

    def unexpected(self, context: str) -> GoError:
        # At its end Go feeds the scanner one blank, which is what it then complains of.
        byte = to_bytes(self.text[self.at : self.at + 1] or " ")[0]
        return GoError(f"invalid character {_quoted(chr(byte))} {context}")


def _quoted(char: str) -> str:
    if char == "'":
        return "'\\''"
    return "'\"'" if char == '"' else f"'{quote(char)[1:-1]}'"
