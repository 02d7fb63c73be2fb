"""From text to lists and maps of text, and back to sorted lists."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.funcs.numbers.capacity import exact, room_of
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.funcs.text.text import text_of, texts_of
from steward.gotemplate.values.utf8 import is_valid
from steward.gotemplate.values.values import (
    ByteSlice,
    StringMap,
    StringSlice,
    Value,
    canonical,
    from_bytes,
    to_bytes,
)

table = Table()

# A list place and the header of a string, in bytes.
_PLACE = 64
_SLICES = (list, ByteSlice)


def pieces(text: str, separator: str, count: int) -> list[str]:
    """strings.SplitN; a negative count means all, and an empty separator splits between runes."""
    if count == 0:
        return []
    if not separator:
        return _runes(text, count)
    if is_valid(separator):
        return text.split(separator, count - 1 if count > 0 else -1)
    raw = to_bytes(text).split(to_bytes(separator), count - 1 if count > 0 else -1)
    return [from_bytes(piece) for piece in raw]


def _runes(text: str, count: int) -> list[str]:
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], canonical(text[count - 1 :])]


def _charge(budget: Budget, text: str, separator: str) -> None:
    budget.build(_PLACE * (text.count(separator) + 1) if separator else _PLACE * len(text))


@table.budgeted("splitList(string, string) []string")
def split_list(budget: Budget, separator: str, text: str) -> StringSlice:
    _charge(budget, text, separator)
    return exact(budget, StringSlice(pieces(text, separator, -1)))


@table.budgeted("split(string, string) map[string]string")
def split(budget: Budget, separator: str, text: str) -> StringMap:
    _charge(budget, text, separator)
    return StringMap({f"_{index}": piece for index, piece in enumerate(pieces(text, separator, -1))})


@table.budgeted("splitn(string, int, string) map[string]string")
def splitn(budget: Budget, separator: str, count: int, text: str) -> StringMap:
    _charge(budget, text, separator)
    return StringMap({f"_{index}": piece for index, piece in enumerate(pieces(text, separator, count))})


def copied_texts(budget: Budget, value: Value) -> StringSlice:
    """As texts_of; a copy has room for all items, also for the nils that were left out."""
    texts = texts_of(value, budget)
    if texts is not value:
        texts.capacity = len(value) if isinstance(value, list) else len(texts)
    return texts


@table.budgeted("toStrings(any) []string")
def to_strings(budget: Budget, value: Value) -> StringSlice:
    return copied_texts(budget, value)


@table.budgeted("sortAlpha(any) []string")
def sort_alpha(budget: Budget, value: Value) -> StringSlice:
    """Sorts by bytes. A []string is sorted in place, anything else is copied first."""
    if not isinstance(value, _SLICES):
        return StringSlice([text_of(value, budget)])
    texts = copied_texts(budget, value)
    budget.work(len(texts))
    if "".join(texts).isascii():
        texts.sort()
    else:
        texts.sort(key=to_bytes)
    if texts is value:
        room = room_of(budget, texts)
        if room.storage is not texts:
            # Part of another list: Go sorted that one's items.
            room.storage[room.offset : room.offset + len(texts)] = texts
    return texts
