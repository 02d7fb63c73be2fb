"""huandu/xstrings 1.5: PascalCase, snake_case and kebab-case, word by word as it splits them."""

from collections.abc import Callable
from typing import NamedTuple

from steward.gotemplate.golang.unicode import (
    is_letter,
    is_number,
    is_punct,
    is_space,
    is_upper,
    lower_rune,
    upper_rune,
)
from steward.gotemplate.values.utf8 import repaired
from steward.gotemplate.values.values import canonical

INVALID, NUMBER, UPPER, ALPHABET, CONNECTOR, PUNCT, OTHER = range(7)

# xstrings takes these CJK blocks out of the letters.
_IDEOGRAPHS = ((0x4E00, 0x9FCC), (0x3400, 0x4D85), (0x20000, 0x2B81D))


def pascal_case(text: str) -> str:
    """Words joined, each with a big first letter; connectors at the start stay."""
    runes = repaired(text)
    start = 0
    while start < len(runes) and is_connector(runes[start]):
        start += 1
    if start == len(runes):
        # The last connector is written twice: once as a leading one and once as the only rune.
        return runes + runes[-1:]
    return runes[:start] + _pascal_words(runes[start:])


def _pascal_words(runes: str) -> str:
    out: list[str] = []
    shouting = is_upper(runes[0])
    current = upper_rune(runes[0])
    for following in runes[1:]:
        before, current = current, following
        if is_connector(before):
            if is_connector(current):
                out.append(before)
                continue
            shouting = is_upper(current)
            current = upper_rune(current)
            continue
        if shouting and is_upper(current):
            current = lower_rune(current)
        else:
            shouting = False
        out.append(before)
    return "".join(out) + current


def snake_case(text: str) -> str:
    return _joined_words(text, "_")


def kebab_case(text: str) -> str:
    return _joined_words(text, "-")


def is_connector(char: str) -> bool:
    return char in "-_" or is_space(char)


def is_alphabet(char: str) -> bool:
    return is_letter(char) and not any(low <= ord(char) <= high for low, high in _IDEOGRAPHS)


class Word(NamedTuple):
    """A run of one kind inside a text."""

    kind: int
    start: int
    end: int


def _joined_words(text: str, connector: str) -> str:
    out = _Joined(text, connector)
    word = next_word(text, 0)
    while word.end < len(text):
        if word.kind != CONNECTOR:
            out.add(word)
        word = _AFTER.get(word.kind, _after_letters)(word, next_word(text, word.end), out)
    out.add(word)
    return canonical("".join(out.parts))


class _Joined:
    """The result so far. Slices of the rest of the text would make long texts quadratic, so words are places."""

    def __init__(self, text: str, connector: str) -> None:
        self.text = text
        self.connector = connector
        self.parts: list[str] = []

    def add(self, word: Word) -> None:
        self.parts.append(_lowered(word.kind, self.text[word.start : word.end], self.connector))

    def add_plain(self, word: Word) -> None:
        self.parts.append(self.text[word.start : word.end])

    def connect(self) -> None:
        self.parts.append(self.connector)

    def following(self, word: Word) -> Word:
        return next_word(self.text, word.end)

    def is_last(self, word: Word) -> bool:
        return word.end >= len(self.text)


def _after_number(_: Word, word: Word, out: _Joined) -> Word:
    word = _through_letters_and_numbers(word, out)
    if word.kind not in (INVALID, PUNCT, CONNECTOR):
        out.connect()
    return word


def _after_connector(before: Word, word: Word, out: _Joined) -> Word:
    out.add(before)
    return word


def _after_punct(_: Word, word: Word, __: _Joined) -> Word:
    return word


def _after_letters(_: Word, word: Word, out: _Joined) -> Word:
    if word.kind != NUMBER:
        if word.kind not in (CONNECTOR, PUNCT):
            out.connect()
        return word
    if out.is_last(word):
        return word
    number, word = word, out.following(word)
    if word.kind != ALPHABET:
        # The number belongs to the word before it: Bld4Floor.
        out.add_plain(number)
        if word.kind not in (CONNECTOR, PUNCT):
            out.connect()
        return word
    out.connect()
    out.add_plain(number)
    word = _through_letters_and_numbers(word, out)
    if word.kind not in (INVALID, CONNECTOR, PUNCT):
        out.connect()
    return word


_AFTER: dict[int, Callable[[Word, Word, _Joined], Word]] = {
    NUMBER: _after_number,
    CONNECTOR: _after_connector,
    PUNCT: _after_punct,
}


def _through_letters_and_numbers(word: Word, out: _Joined) -> Word:
    while word.kind in (ALPHABET, NUMBER):
        out.add(word)
        word = out.following(word)
    return word


def _lowered(kind: int, text: str, connector: str) -> str:
    if kind not in (UPPER, CONNECTOR):
        return text
    return "".join(
        connector if is_connector(char) else lower_rune(char) if is_upper(char) else char
        for char in repaired(text)
    )


def next_word(text: str, start: int) -> Word:
    """The longest word at a place, of one kind; stray bytes are skipped over but stay in the word."""
    if start >= len(text):
        return Word(INVALID, start, start)
    char, at = _next_valid(text, start, "")
    if not char:
        return Word(INVALID, start, at)
    kind, belongs = _kind_of(char)
    end = _end_of_upper(text, at, char) if kind == UPPER else _run(text, at, char, belongs)
    return Word(kind, start, end)


def _kind_of(char: str) -> tuple[int, Callable[[str], bool]]:
    if is_connector(char):
        return CONNECTOR, is_connector
    if is_punct(char):
        return PUNCT, is_punct
    if is_upper(char):
        return UPPER, is_upper
    if is_alphabet(char):
        return ALPHABET, _is_small_alphabet
    if is_number(char):
        return NUMBER, is_number
    return OTHER, _is_other


def _is_small_alphabet(char: str) -> bool:
    return is_alphabet(char) and not is_upper(char)


def _is_other(char: str) -> bool:
    return not (is_connector(char) or is_alphabet(char) or is_number(char) or is_punct(char))


def _run(text: str, at: int, char: str, belongs: Callable[[str], bool]) -> int:
    while at < len(text):
        char, following = _next_valid(text, at, char)
        if not belongs(char):
            break
        at = following
    return at


def _end_of_upper(text: str, at: int, char: str) -> int:
    if at == len(text):
        return at
    char, following = _next_valid(text, at, char)
    if is_upper(char):
        return _end_of_capitals(text, following, at, char)
    if is_alphabet(char):
        return _run(text, following, char, _is_small_alphabet)
    return at


def _end_of_capitals(text: str, at: int, last_start: int, char: str) -> int:
    while at < len(text):
        char, following = _next_valid(text, at, char)
        if not is_upper(char):
            break
        last_start, at = at, following
    # "HTTPStatus" is HTTP and Status: the last capital belongs to the small letters after it.
    return last_start if at < len(text) and is_alphabet(char) else at


def _next_valid(text: str, at: int, before: str) -> tuple[str, int]:
    """The next rune that is no U+FFFD and no stray byte, and where it ends; `before` if there is none."""
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\ufffd" and not "\udc80" <= char <= "\udcff":
            return char, at
    return before, at
