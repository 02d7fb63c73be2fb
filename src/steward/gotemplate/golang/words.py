"""Words and case: strings.Title, and what sprig takes from Masterminds/goutils."""

from steward.gotemplate.golang.unicode import (
    SPACES,
    is_digit,
    is_letter,
    is_lower,
    is_space,
    is_title,
    is_upper,
    lower_rune,
    title_rune,
    upper_rune,
)
from steward.gotemplate.values.utf8 import repaired
from steward.gotemplate.values.values import from_bytes, to_bytes


def title(text: str) -> str:
    """Title case after every separator; an apostrophe is one."""
    out: list[str] = []
    before = " "
    for char in repaired(text):
        out.append(title_rune(char) if _separates(before) else char)
        before = char
    return "".join(out)


def _separates(char: str) -> bool:
    if char.isascii():
        return not (char.isalnum() or char == "_")
    return not is_letter(char) and not is_digit(char) and is_space(char)


def untitle(text: str) -> str:
    """The first letter of every word in lower case."""
    out: list[str] = []
    at_word = True
    for char in repaired(text):
        if is_space(char):
            at_word = True
        elif at_word:
            char, at_word = lower_rune(char), False  # noqa: PLW2901
        out.append(char)
    return "".join(out)


def swap_case(text: str) -> str:
    """Upper and title to lower; lower to upper, or to title at a word's start."""
    out: list[str] = []
    at_word = True
    for char in repaired(text):
        if is_upper(char) or is_title(char):
            out.append(lower_rune(char))
            at_word = False
        elif is_lower(char):
            out.append(title_rune(char) if at_word else upper_rune(char))
            at_word = False
        else:
            out.append(char)
            at_word = is_space(char)
    return "".join(out)


def initials(text: str) -> str:
    """The first byte of every word, each byte read as Latin-1."""
    return "".join(word[0] for word in _latin1(text).translate(_SPACE_TO_BLANK).split(" ") if word)


def delete_white_space(text: str) -> str:
    """Without white space; if there was any, every byte comes back as a Latin-1 rune."""
    raw = to_bytes(text)
    kept = raw.translate(None, _SPACE_BYTES)
    return text if len(kept) == len(raw) else kept.decode("latin-1")


def _latin1(text: str) -> str:
    return text if text.isascii() else to_bytes(text).decode("latin-1")


_LATIN1_SPACES = [char for char in SPACES if char <= "\xff"]
_SPACE_TO_BLANK = {ord(char): " " for char in _LATIN1_SPACES}
_SPACE_BYTES = "".join(_LATIN1_SPACES).encode("latin-1")


def abbreviate(text: str, offset: int, width: int) -> str:
    """At most `width` bytes, with dots at the right, and at the left if the offset is past the fourth byte.

    What goutils refuses comes back as "", since sprig drops its error.
    """
    raw = to_bytes(text)
    size = len(raw)
    if size <= width or not text:
        return text
    offset = min(offset, size)
    if size - offset < width - 3:
        offset = size - (width - 3)
    if offset <= 4:
        return from_bytes(raw[: width - 3] + b"...")
    if width < 7:
        return ""
    if offset + width - 3 < size:
        return "..." + abbreviate(from_bytes(raw[offset:]), 0, width - 3)
    return from_bytes(b"..." + raw[size - (width - 3) :])


def wrap(text: str, width: int, newline: str, *, break_long_words: bool) -> str:
    """Lines of at most `width` bytes, broken at blanks."""
    raw, end_of_line = to_bytes(text), to_bytes(newline or "\n")
    width = max(width, 1)
    out: list[bytes] = []
    offset = 0
    while len(raw) - offset > width:
        if raw[offset] == 0x20:
            offset += 1
            continue
        cut, following = _line_end(raw, offset, width, break_long_words)
        out.append(raw[offset:cut])
        offset = following
        if following < len(raw) or cut < len(raw):
            out.append(end_of_line)
    out.append(raw[offset:])
    return from_bytes(b"".join(out))


def _line_end(raw: bytes, offset: int, width: int, break_long_words: bool) -> tuple[int, int]:
    blank = raw.rfind(b" ", offset, offset + width + 1)
    if blank >= 0:
        return blank, blank + 1
    if break_long_words:
        return offset + width, offset + width
    blank = raw.find(b" ", offset + width)
    return (len(raw), len(raw)) if blank < 0 else (blank, blank + 1)
