"""Whether an object exists for a row: the rendered text of `when`. Pure.

Only `true`, `false` and nothing are accepted. A column with `1` or `yes` is an error: taken for false it would delete
the object without a word.
"""

import re
from typing import Final

from steward.tenants.errors import RenderError

FIELD: Final = "when"
_WORDS: Final = ("true", "false")
_NUMBER: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?", re.ASCII)
_CURE: Final = 'compare it, as in {{ eq .plan "gold" }}, or convert it, as in {{ bool .enabled }}'


def is_included(rendered: str) -> bool:
    """RenderError for any other text. The message has its kind and nothing of it: it may be a secret of the row."""
    verdict = rendered.strip()
    if verdict in _WORDS or not verdict:
        return verdict == "true"
    raise RenderError(FIELD, f"renders {_describe_kind(verdict)}, and neither true nor false: {_CURE}")


def constant_problem(text: str) -> str:
    """The problem of a `when` without a template in it; empty if it has none."""
    if "{{" in text or not text or text.strip() in _WORDS:
        return ""
    return f"is {_describe_kind(text.strip())}, and neither true nor false: {_CURE}"


def _describe_kind(text: str) -> str:
    if not text:
        return "a blank text"
    if text.lower() in _WORDS:
        return "true or false with capital letters"
    if _NUMBER.fullmatch(text):
        return "a number"
    return "a text of several lines" if "\n" in text else "another text"
