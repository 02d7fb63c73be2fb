"""Text escaped character by character, by a rule: `str.translate` asks the rule once for each character it meets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# What text is made of is few hundred characters; a hostile one may hold a million different.
_REMEMBERED: Final = 4096


class Escapes(dict[int, str]):
    """A table for `str.translate`. A loop over the characters takes four times as long."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        text = self._rule(chr(code))
        if len(self) < _REMEMBERED:
            self[code] = text
        return text
