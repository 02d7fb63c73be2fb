"""Go's regexp over RE2's engine: the same matches, found in linear time, cut and replaced by Go's rules.

The engine sees valid UTF-8: each byte that is not becomes U+FFFD, which is how Go's own engine reads it. Results
are cut from the original text, so those bytes come back as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from steward.gotemplate.golang.quote import can_backquote, quote
from steward.gotemplate.golang.regexp.syntax import translate
from steward.gotemplate.golang.regexp.template import expand
from steward.gotemplate.values.utf8 import is_valid, repaired
from steward.gotemplate.values.values import canonical

Span = tuple[int, int]
Spans = list[Span]
Spend = Callable[[int], None]

_OPERATORS = "\\.+*?()|[]{}^$"
_ENGINE_MEMORY = 4 << 20
_KEPT_PROGRAM = 5000


class PatternTooLarge(Exception):
    """The pattern is Go's, but its program would not fit in the memory a template may use."""


def _free(_: int) -> None:
    """No budget is kept."""


class Subject:
    """A text as the engine sees it, and the way back from byte offsets to the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = repaired(text).encode()
        self._is_valid = is_valid(text)
        self._offset = self._place = 0

    def cut(self, start: int, end: int) -> str:
        if self._is_valid:
            return self.raw[start:end].decode()
        return self.text[self._place_of(start) : self._place_of(end)]

    def _place_of(self, offset: int) -> int:
        """The character at an offset, counted from the one asked for last: a table of all would fill the memory."""
        if offset >= self._offset:
            self._place += len(self.raw[self._offset : offset].decode())
        else:
            self._place -= len(self.raw[offset : self._offset].decode())
        self._offset = offset
        return self._place

    def group(self, span: Span) -> str | None:
        return None if span[0] < 0 else self.cut(*span)

    def splits_rune(self, at: int) -> bool:
        return at < len(self.raw) and self.raw[at] & 0xC0 == 0x80

    def width(self, at: int) -> int:
        """Bytes of the character at an offset; 0 at the end."""
        lead = self.raw[at] if at < len(self.raw) else -1
        return 0 if lead < 0 else 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


class Pieces(NamedTuple):
    """What a split left, and the room that Go makes for it beforehand: a piece for each match."""

    texts: list[str]
    room: int


class Regexp:
    """A compiled pattern. `spend` is called before each search with the microseconds that it may take."""

    def __init__(self, pattern: str) -> None:
        translation = translate(pattern)
        self.pattern = pattern
        self.names = translation.names
        self.engine = _compile_engine(translation.pattern)
        self.program_size: int = self.engine.programsize

    def matches(self, text: str, spend: Spend = _free) -> bool:
        return self.search(Subject(text), 0, spend) is not None

    def find(self, text: str, spend: Spend = _free) -> str:
        """The leftmost match, or nothing."""
        subject = Subject(text)
        spans = self.search(subject, 0, spend)
        return "" if spans is None else subject.cut(*spans[0])

    def find_groups(self, text: str) -> list[str | None] | None:
        subject = Subject(text)
        spans = self.search(subject, 0, _free)
        return None if spans is None else [subject.group(span) for span in spans]

    def find_all_groups(self, text: str) -> list[list[str | None]]:
        subject = Subject(text)
        return [[subject.group(span) for span in spans] for spans in self.all_spans(subject, -1, _free)]

    def find_all(self, text: str, count: int, spend: Spend = _free) -> list[str]:
        """At most `count` matches that do not overlap; all of them if it is negative."""
        subject = Subject(text)
        return [subject.cut(*spans[0]) for spans in self.all_spans(subject, count, spend)]

    def search(self, subject: Subject, start: int, spend: Spend) -> Spans | None:
        spend(4 + (len(subject.raw) - start) * (self.program_size + 200) // 50_000)
        found = self.engine.search(subject.raw, start)
        while found is not None and subject.splits_rune(found.start()):
            # RE2 lets \B match between the bytes of one rune, Go does not.
            spend(1)
            found = self.engine.search(subject.raw, found.start() + 1)
        return None if found is None else [found.span(group) for group in range(len(self.names))]

    def all_spans(self, subject: Subject, count: int, spend: Spend) -> Iterator[Spans]:
        start, last_end, found = 0, -1, 0
        while start <= len(subject.raw) and (count < 0 or found < count):
            spans = self.search(subject, start, spend)
            if spans is None:
                return
            begin, end = spans[0]
            if end == start:
                # An empty match right behind another match does not count, and the search must move on.
                accepted = begin != last_end
                start += subject.width(start) or 1
            else:
                accepted, start = True, end
            last_end = end
            if accepted:
                found += 1
                yield spans

    def replace_all(self, text: str, template: str, spend: Spend = _free, build: Spend = _free) -> str:
        """Every match replaced; `$1`, `${name}` and `$$` in the template are expanded.

        `build` is called with the bytes that are inserted."""
        subject = Subject(text)

        def expanded(spans: Spans) -> str:
            return expand(template, self.names, spans, subject.group)

        return self._replaced(subject, expanded, spend, build)

    def replace_all_literal(self, text: str, new: str, spend: Spend = _free, build: Spend = _free) -> str:
        return self._replaced(Subject(text), lambda _: new, spend, build)

    def _replaced(self, subject: Subject, new: Callable[[Spans], str], spend: Spend, build: Spend) -> str:
        out: list[str] = []
        start, last_end = 0, 0
        while start <= len(subject.raw):
            spans = self.search(subject, start, spend)
            if spans is None:
                break
            begin, end = spans[0]
            out.append(subject.cut(last_end, begin))
            if end > last_end or begin == 0:
                out.append(new(spans))
                build(len(out[-1]))
            last_end = end
            start = max(end, start + (subject.width(start) or 1))
        if not out:
            return subject.text
        out.append(subject.cut(last_end, len(subject.raw)))
        return canonical("".join(out))

    def split(self, text: str, count: int, spend: Spend = _free) -> Pieces | None:
        """The text between the matches, in at most `count` pieces; None (a nil slice) if `count` is 0."""
        if count == 0:
            return None
        if self.pattern and not text:
            return Pieces([""], 1)
        subject = Subject(text)
        matches = [spans[0] for spans in self.all_spans(subject, count, spend)]
        pieces: list[str] = []
        begin, end = 0, 0
        for match_begin, match_end in matches:
            if count > 0 and len(pieces) == count - 1:
                break
            end = match_begin
            if match_end != 0:
                pieces.append(subject.cut(begin, end))
            begin = match_end
        if end != len(subject.raw):
            pieces.append(subject.cut(begin, len(subject.raw)))
        return Pieces(pieces, len(matches))


def _compile_engine(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _ENGINE_MEMORY
    try:
        engine = re2.compile(pattern.encode(), options)
    except re2.error as error:
        raise PatternTooLarge(str(error)) from None
    if engine.programsize > _KEPT_PROGRAM:
        # re2 keeps every program it compiles; large ones must not pile up.
        re2.purge()
    return engine


@lru_cache(maxsize=128)
def _small(pattern: str) -> Regexp | None:
    made = Regexp(pattern)
    return made if made.program_size <= _KEPT_PROGRAM else None


def compile_regexp(pattern: str) -> Regexp:
    """The pattern compiled, from a cache if it is small; GoError if Go would refuse it."""
    return _small(pattern) or Regexp(pattern)


def compile_panic(pattern: str, error: str) -> str:
    """What MustCompile panics with."""
    shown = f"`{pattern}`" if can_backquote(pattern) else quote(pattern)
    return f"regexp: Compile({shown}): {error}"


def quote_meta(text: str) -> str:
    """The text with every operator character escaped."""
    for operator in _OPERATORS:
        text = text.replace(operator, "\\" + operator)
    return text
