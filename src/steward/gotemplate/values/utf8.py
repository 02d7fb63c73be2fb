"""Where Go decodes a string into runes: every byte that is not UTF-8 (a lone surrogate here) reads as U+FFFD."""

from __future__ import annotations

import re
from typing import Final

from steward.gotemplate.values.escapes import Escapes

_STRAY: Final = re.compile("[\udc80-\udcff]")
_REPAIRED: Final = Escapes(lambda char: "\ufffd" if "\ud800" <= char <= "\udfff" else char)
# Code points that are no characters: text that holds all of these is made to.
_SPARE: Final = [chr(code) for code in range(0xFDD0, 0xFDF0)]


def is_valid(text: str) -> bool:
    """Whether the string's bytes are UTF-8."""
    return text.isascii() or _STRAY.search(text) is None


def repaired(text: str) -> str:
    """Every stray byte becomes U+FFFD, as where Go decodes runes and writes them again."""
    return text if is_valid(text) else without_surrogates(text)


def without_surrogates(text: str) -> str:
    """U+FFFD in place of every surrogate.

    The codec writes a question mark for each in a tenth of the time that `str.translate` needs; the question
    marks of the text itself are replaced meanwhile. A handler of our own is called for every run of stray bytes, and
    half a million runs fit in a megabyte.
    """
    if "?" not in text:
        return text.encode("utf-8", "replace").decode().replace("?", "\ufffd")
    spare = next((char for char in _SPARE if char not in text), None)
    if spare is None:
        return text.translate(_REPAIRED)
    return without_surrogates(text.replace("?", spare)).replace(spare, "?")
