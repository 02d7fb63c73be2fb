"""Go's strconv.Quote: a string as a Go literal. A byte that is not UTF-8 is held as a lone surrogate (U+DC80+)."""

import re

from steward.gotemplate.values.escapes import Escapes

_NOT_RAW = re.compile("[`\x7f\ufeff\x00-\x08\x0a-\x1f\udc80-\udcff]")
# Go's tables are those of Unicode 15.0; these print in it and not yet in Python 3.11.
_NEWER = re.compile(
    "[\u0cf3\u0ece\U00010efd-\U00010eff\U0001123f-\U00011241\U00011b00-\U00011b09\U00011f00-\U00011f10"
    "\U00011f12-\U00011f3a\U00011f3e-\U00011f59\U0001342f\U00013440-\U00013455\U0001b132\U0001b155"
    "\U0001d2c0-\U0001d2d3\U0001df25-\U0001df2a\U0001e030-\U0001e06d\U0001e08f\U0001e4d0-\U0001e4f9\U0001f6dc"
    "\U0001f774-\U0001f776\U0001f77b-\U0001f77f\U0001f7d9\U0001fa75-\U0001fa77\U0001fa87-\U0001fa88"
    "\U0001faad-\U0001faaf\U0001fabb-\U0001fabd\U0001fabf\U0001face-\U0001facf\U0001fada-\U0001fadb\U0001fae8"
    "\U0001faf7-\U0001faf8\U0002b739\U00031350-\U000323af]"
)
_NAMED = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}


def quote(text: str) -> str:
    """The text between double quotes, with what does not print escaped."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'


def _escaped(char: str) -> str:
    named = _NAMED.get(char)
    if named is not None:
        return named
    if char.isprintable() or _NEWER.match(char):
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_ESCAPES = Escapes(_escaped)


def quote_rune(char: str) -> str:
    """One character between single quotes, as Go's %q prints a rune."""
    if char == "'":
        return "'\\''"
    return "'\"'" if char == '"' else f"'{_escaped(char)}'"


def can_backquote(text: str) -> bool:
    """Whether the text can stand between backquotes unchanged."""
    return _NOT_RAW.search(text) is None
