"""What one verb of fmt makes of one plain value: integers, floats, strings, bytes, with flags, width and precision."""

from __future__ import annotations

from typing import Final

from steward.gotemplate.budget import Budget
from steward.gotemplate.golang.quote import can_backquote, quote, quote_rune
from steward.gotemplate.values.numbers import format_float
from steward.gotemplate.values.values import from_bytes, to_bytes

MAX_RUNE: Final = 0x10FFFF
_BASES: Final = {"d": "d", "v": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES: Final = {"b": "0b", "x": "0x", "X": "0X"}


class Flags:
    """One directive's flags. `%+v` and `%#v` are formats of their own: plus_v, sharp_v."""

    __slots__ = ("minus", "plus", "plus_v", "precision", "sharp", "sharp_v", "space", "width", "zero")

    def __init__(self) -> None:
        self.minus = self.plus = self.sharp = self.space = self.zero = self.plus_v = self.sharp_v = False
        self.width: int | None = None
        self.precision: int | None = None

    def but(self, **changes: bool | int | None) -> Flags:
        made = Flags()
        for name in Flags.__slots__:
            setattr(made, name, changes[name] if name in changes else getattr(self, name))
        return made


PLAIN: Final = Flags()


def pad(text: str, flags: Flags, budget: Budget | None) -> str:
    """Fill up to the width, with zeros only on the left."""
    width = flags.width
    if width is None or width <= len(text):
        return text
    if budget is not None:
        budget.build(width)
    if flags.minus:
        return text.ljust(width)
    return text.rjust(width, "0" if flags.zero else " ")


def format_integer(value: int, verb: str, flags: Flags, budget: Budget | None) -> str | None:
    """None if the verb is none of an integer's."""
    if verb in _BASES:
        return _in_base(value, verb, flags, budget)
    if verb == "c":
        return pad(rune(value), flags, budget)
    if verb == "q":
        quoted = quote_rune(rune(value))
        return pad(_ascii_only(quoted) if flags.plus else quoted, flags, budget)
    return _unicode(value, flags, budget) if verb == "U" else None


def rune(value: int) -> str:
    """The character of a code; what is no code is U+FFFD."""
    if 0 <= value <= MAX_RUNE and not 0xD800 <= value <= 0xDFFF:
        return chr(value)
    return "�"


def _in_base(value: int, verb: str, flags: Flags, budget: Budget | None) -> str:
    unpadded = flags.but(zero=False) if flags.zero else flags
    if flags.precision == 0 and value == 0:
        return pad("", unpadded, budget)
    digits = format(abs(value), _BASES[verb])
    digits = digits.rjust(_least_digits(value, flags, budget), "0")
    if flags.sharp:
        digits = _prefixed(digits, verb)
    if verb == "O":
        digits = "0o" + digits
    return pad(_sign(value, flags) + digits, unpadded, budget)


def _least_digits(value: int, flags: Flags, budget: Budget | None) -> int:
    least = 0
    if flags.precision is not None:
        least = flags.precision
    elif flags.zero and not flags.minus and flags.width is not None:
        least = flags.width - (value < 0 or flags.plus or flags.space)
    if budget is not None and least > 256:
        budget.build(least)
    return least


def _prefixed(digits: str, verb: str) -> str:
    if verb in ("o", "O"):
        return digits if digits.startswith("0") else "0" + digits
    return _PREFIXES.get(verb, "") + digits


def _sign(value: float, flags: Flags) -> str:
    if value < 0:
        return "-"
    if flags.plus:
        return "+"
    return " " if flags.space else ""


def _unicode(value: int, flags: Flags, budget: Budget | None) -> str:
    code = value & 0xFFFFFFFFFFFFFFFF
    text = f"{code:X}".rjust(max(4, flags.precision or 0), "0")
    shown = flags.sharp and code <= MAX_RUNE and rune(code).isprintable() and rune(code) == chr(code)
    tail = f" '{chr(code)}'" if shown else ""
    return pad(f"U+{text}{tail}", flags.but(zero=False), budget)


_FLOAT_VERBS: Final = {"v": ("g", -1), "f": ("f", 6), "F": ("f", 6), "e": ("e", 6), "E": ("E", 6)} | {
    verb: (verb, -1) for verb in "bgGxX"
}


def format_number(value: float, verb: str, flags: Flags, budget: Budget | None, bits: int = 64) -> str | None:
    """A float; None if the verb is none of a float's."""
    if verb not in _FLOAT_VERBS:
        return None
    verb, precision = _FLOAT_VERBS[verb]
    if flags.precision is not None:
        precision = flags.precision
    if budget is not None and precision > 64:
        budget.build(precision)
    text = format_float(value, verb, precision, bits)
    sign, digits = (text[0], text[1:]) if text[0] in "+-" else ("+", text)
    if flags.space and sign == "+" and not flags.plus:
        sign = " "
    if digits[0] in "IN":
        return _special_number(text, sign + digits, flags, budget)
    if flags.sharp and verb != "b":
        digits = _with_point(digits, verb, precision)
    if not flags.plus and sign == "+":
        return pad(digits, flags, budget)
    if flags.zero and not flags.minus and flags.width is not None and flags.width > len(digits) + 1:
        return sign + pad(digits, flags.but(width=flags.width - 1), budget)
    return pad(sign + digits, flags, budget)


def _special_number(text: str, signed: str, flags: Flags, budget: Budget | None) -> str:
    if text == "NaN" and not flags.space and not flags.plus:
        signed = text
    elif text == "+Inf" and not flags.plus and signed[0] == "+":
        signed = "+Inf"
    return pad(signed, flags.but(zero=False), budget)


def _with_point(digits: str, verb: str, precision: int) -> str:
    """The sharp flag: a decimal point always, and trailing zeros as the precision asks."""
    wanted = 0
    if verb in "gGx":
        wanted = 6 if precision < 0 else precision
    marks = "pP" if verb in "xX" else "eE"
    cut = next((at for at, char in enumerate(digits) if char in marks), len(digits))
    number, tail = digits[:cut], digits[cut:]
    significant = number.replace(".", "").lstrip("0")
    wanted -= len(significant)
    if "." not in number:
        wanted -= number == "0"
        number += "."
    return number + "0" * max(wanted, 0) + tail


def format_complex(value: complex, verb: str, flags: Flags, budget: Budget | None) -> str | None:
    real = format_number(value.real, verb, flags, budget)
    imaginary = format_number(value.imag, verb, flags.but(plus=True), budget)
    return None if real is None or imaginary is None else f"({real}{imaginary}i)"


def format_string(value: str, verb: str, flags: Flags, budget: Budget | None) -> str | None:
    """None if the verb is none of a string's."""
    if verb == "s" or (verb == "v" and not flags.sharp_v):
        return pad(_truncate(value, flags), flags, budget)
    if verb in ("q", "v"):
        return pad(_quoted(_truncate(value, flags), flags), flags, budget)
    if verb in ("x", "X"):
        return format_hex(to_bytes(value), verb, flags, budget)
    return None


def _truncate(text: str, flags: Flags) -> str:
    return text if flags.precision is None else text[: flags.precision]


def _quoted(text: str, flags: Flags) -> str:
    if flags.sharp and can_backquote(text):
        return f"`{text}`"
    quoted = quote(text)
    return _ascii_only(quoted) if flags.plus else quoted


def _ascii_only(quoted: str) -> str:
    if quoted.isascii():
        return quoted
    return "".join(
        c if c.isascii() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in quoted
    )


def format_hex(data: bytes, verb: str, flags: Flags, budget: Budget | None) -> str:
    """`%x` of a string or byte slice; the space flag puts blanks between bytes, the sharp flag 0x before."""
    if flags.precision is not None:
        data = data[: flags.precision]
    prefix = ("0X" if verb == "X" else "0x") if flags.sharp and data else ""
    text = prefix + (data.hex(" ").replace(" ", f" {prefix}") if flags.space else data.hex())
    if verb == "X":
        text = text.upper()
    return pad(text, flags, budget)


def format_bytes(data: bytes, verb: str, flags: Flags, budget: Budget | None) -> str | None:
    """`%s %q %x %X` of a byte slice; None for the verbs that go element by element."""
    if verb in ("s", "q"):
        return format_string(from_bytes(data), verb, flags, budget)
    return format_hex(data, verb, flags, budget) if verb in ("x", "X") else None
