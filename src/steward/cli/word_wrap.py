"""Wraps lines at words for a narrow terminal, with the branches of a tree continued. Pure.

Commands are not wrapped: a terminal that breaks a line itself lets a user copy it whole.
"""

from __future__ import annotations

import re
import textwrap
from typing import Final

_SPACE: Final = "\0"
_COMMAND: Final = re.compile(r"`[^`]*`|\b(?:steward|kubectl) [a-z].*$")
_START: Final = re.compile(r"(?P<guides>(?:│  |   )*)(?P<branch>├─ |└─ )?(?P<rest>\s*(?:[✓…✗!?+~-] )?)")
_NARROWEST: Final = 20


def wrap_text(text: str, width: int) -> list[str]:
    """The lines of the text; the second and those after it are indented below the first word."""
    if len(text) <= width:
        return [text]
    found = _START.match(text)
    first = found[0] if found else ""
    protected = _COMMAND.sub(lambda command: command[0].replace(" ", _SPACE), text[len(first) :])
    lines = textwrap.wrap(
        protected,
        max(width, len(first) + _NARROWEST),
        initial_indent=first,
        subsequent_indent=_continuation(found),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_SPACE, " ") for line in lines]


def _continuation(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    branch = {"├─ ": "│  ", "└─ ": "   "}.get(found["branch"] or "", "")
    return f"{found['guides']}{branch}{' ' * len(found['rest'])}"
