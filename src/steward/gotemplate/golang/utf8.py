"""Where Go decodes a string into runes: every byte that is not UTF-8 (a lone surrogate here) reads as U+FFFD."""

import re

from steward.gotemplate.golang.escapes import Escapes

_STRAY = re.compile("[\udc80-\udcff]")
_REPAIRED = Escapes(lambda char: "\ufffd" if "\udc80" <= char <= "\udcff" else char)


def is_valid(text: str) -> bool:
    """Whether the string's bytes are UTF-8."""
    return text.isascii() or _STRAY.search(text) is None


def repaired(text: str) -> str:
    """Every stray byte becomes U+FFFD, as where Go decodes runes and writes them again."""
    return text if is_valid(text) else text.translate(_REPAIRED)
