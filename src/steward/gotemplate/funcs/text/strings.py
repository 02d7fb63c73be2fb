"""sprig's string functions that look at text as a whole: case, trimming, searching, cutting."""

from __future__ import annotations

from collections.abc import Callable

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoPanic
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang import unicode, words, xstrings
from steward.gotemplate.golang.unicode import SPACES
from steward.gotemplate.values.utf8 import is_valid, repaired
from steward.gotemplate.values.values import byte_length, canonical, from_bytes, to_bytes

table = Table()

_UNREADABLE = "\ufffd" + "".join(map(chr, range(0xDC80, 0xDD00)))


@table.function("hello() string")
def hello() -> str:
    return "Hello!"


@table.function("trim(string) string")
def trim(text: str) -> str:
    return text.strip(SPACES)


@table.function("upper(string) string")
def upper(text: str) -> str:
    return unicode.upper(repaired(text))


@table.function("lower(string) string")
def lower(text: str) -> str:
    return unicode.lower(repaired(text))


def _rune_by_rune(name: str, change: Callable[[str], str]) -> None:
    """Functions that look at every rune in Python take about half a microsecond for each."""

    @table.budgeted(f"{name}(string) string")
    def changed(budget: Budget, text: str) -> str:
        budget.work(len(text) // 2)
        return change(text)


_rune_by_rune("title", words.title)
_rune_by_rune("untitle", words.untitle)
_rune_by_rune("swapcase", words.swap_case)
_rune_by_rune("snakecase", xstrings.snake_case)
_rune_by_rune("kebabcase", xstrings.kebab_case)
_rune_by_rune("camelcase", xstrings.pascal_case)
_rune_by_rune("initials", words.initials)
table.function("nospace(string) string")(words.delete_white_space)


@table.function("trimall(string, string) string")
@table.function("trimAll(string, string) string")
def trim_all(cutset: str, text: str) -> str:
    if not is_valid(cutset) or "\ufffd" in cutset:
        # Go compares runes, and every stray byte is the same one.
        cutset += _UNREADABLE
    return text.strip(cutset) if cutset else text


@table.function("trimPrefix(string, string) string")
def trim_prefix(prefix: str, text: str) -> str:
    if has_prefix(prefix, text):
        return (
            text.removeprefix(prefix)
            if is_valid(prefix)
            else from_bytes(to_bytes(text)[byte_length(prefix) :])
        )
    return text


@table.function("trimSuffix(string, string) string")
def trim_suffix(suffix: str, text: str) -> str:
    if suffix and has_suffix(suffix, text):
        return (
            text.removesuffix(suffix)
            if is_valid(suffix)
            else from_bytes(to_bytes(text)[: -byte_length(suffix)])
        )
    return text


@table.function("contains(string, string) bool")
def contains(part: str, text: str) -> bool:
    # A part that is no UTF-8 may lie inside a rune, where only bytes can find it.
    return part in text if is_valid(part) else to_bytes(part) in to_bytes(text)


@table.function("hasPrefix(string, string) bool")
def has_prefix(prefix: str, text: str) -> bool:
    return text.startswith(prefix) if is_valid(prefix) else to_bytes(text).startswith(to_bytes(prefix))


@table.function("hasSuffix(string, string) bool")
def has_suffix(suffix: str, text: str) -> bool:
    return text.endswith(suffix) if is_valid(suffix) else to_bytes(text).endswith(to_bytes(suffix))


@table.function("trunc(int, string) string")
def trunc(size: int, text: str) -> str:
    """The first bytes, or the last ones if the size is negative."""
    raw = to_bytes(text)
    if size < 0 and len(raw) + size > 0:
        return from_bytes(raw[len(raw) + size :])
    if 0 <= size < len(raw):
        return from_bytes(raw[:size])
    return text


@table.function("substr(int, int, string) string")
def substr(start: int, end: int, text: str) -> str:
    raw = to_bytes(text)
    if start < 0:
        return from_bytes(_slice_to(raw, end))
    if end < 0 or end > len(raw):
        end = len(raw)
    if start > end:
        raise GoPanic(f"runtime error: slice bounds out of range [{start}:{end}]")
    return from_bytes(raw[start:end])


def _slice_to(raw: bytes, end: int) -> bytes:
    if end < 0:
        raise GoPanic(f"runtime error: slice bounds out of range [:{end}]")
    if end > len(raw):
        raise GoPanic(f"runtime error: slice bounds out of range [:{end}] with length {len(raw)}")
    return raw[:end]


@table.function("abbrev(int, string) string")
def abbrev(width: int, text: str) -> str:
    return text if width < 4 else words.abbreviate(text, 0, width)


@table.function("abbrevboth(int, int, string) string")
def abbrevboth(left: int, right: int, text: str) -> str:
    if right < 4 or (left > 0 and right < 7):
        return text
    return words.abbreviate(text, left, right)


@table.function("plural(string, string, int) string")
def plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


def replaced(text: str, old: str, new: str) -> str:
    """strings.Replace of every occurrence; an empty `old` stands before each rune and at the end."""
    if is_valid(old):
        return canonical(text.replace(old, new))
    return from_bytes(to_bytes(text).replace(to_bytes(old), to_bytes(new)))
