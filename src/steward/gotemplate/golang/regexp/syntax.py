"""Go's regexp/syntax: reads a pattern as Go does, with its errors, and writes it anew in terms RE2's engine shares.

RE2 in C++ and Go's regexp agree on what a pattern matches, but not on which patterns they take nor on what they say
of a bad one. So Go's grammar is read here, and what goes to the engine is plain: ASCII only, flags spelled out on each
atom, groups without names (Go allows a name twice, RE2 does not).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.regexp.classes import (
    bracket_class,
    check_utf8,
    class_escape,
    escaped_rune,
    plain_rune,
    regexp_error,
)

MAX_REPEAT = 1000
MAX_HEIGHT = 1000

_COUNT = re.compile(r"\{(0|[1-9][0-9]*)(,(0|[1-9][0-9]*)?)?\}")
_NAMED_GROUP = re.compile(r"\(\?P?<(?=.)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_]+\Z")
_ANCHORS = {"A": r"\A", "b": r"\b", "B": r"\B", "z": r"\z"}
_REPEATS = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}


class Flags(NamedTuple):
    """What (?ims U) may switch."""

    fold_case: bool = False
    multi_line: bool = False
    dot_newline: bool = False
    lazy: bool = False


class Atom(NamedTuple):
    """A piece of pattern as the engine reads it, its height as a tree and how often repeats inside multiply it."""

    text: str
    height: int = 1
    repeats: int = 0


@dataclass(slots=True)
class Group:
    """An open parenthesis: what stands before it in `text`, and what has been read since."""

    opening: str
    flags: Flags
    branches: list[Atom] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)

    def end_branch(self) -> None:
        self.branches.append(_tree([atom.text for atom in self.atoms], "", self.atoms))
        self.atoms = []

    def closed(self) -> Atom:
        self.end_branch()
        return _tree([branch.text for branch in self.branches], "|", self.branches)


def _tree(texts: list[str], separator: str, parts: list[Atom]) -> Atom:
    height = max((part.height for part in parts), default=0) + (1 if len(parts) != 1 else 0)
    return Atom(separator.join(texts), height, max((part.repeats for part in parts), default=0))


class Translation(NamedTuple):
    """The pattern for the engine, and the names of its groups (empty for those without)."""

    pattern: str
    names: tuple[str, ...]


def translate(pattern: str) -> Translation:
    """Reads a Go pattern; a bad one is a GoError in Go's words."""
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags = Flags()
        self.groups = [Group("", Flags())]
        self.names: list[str] = [""]
        self.last_repeat = -1

    def parse(self) -> Translation:
        while self.at < len(self.pattern):
            repeat_start = self.at if self.pattern[self.at] in "*+?{" else -1
            self.last_repeat = repeat_start if self.step() else -1
        top = self.groups.pop()
        if self.groups:
            raise regexp_error("missing closing )", self.pattern)
        return Translation(self.limited(top.closed()).text, tuple(self.names))

    def step(self) -> bool:
        """Reads one item; true if it was a repetition operator."""
        char = self.pattern[self.at]
        if char in "*+?":
            self.repeat(*_REPEATS[char], self.at + 1)
            return True
        if char == "{":
            return self.counted_repeat()
        _ITEMS.get(char, _Parser.literal)(self)
        return False

    def push(self, text: str, length: int = 0) -> None:
        self.groups[-1].atoms.append(Atom(text))
        self.at += length

    def push_rune(self, rune: int) -> None:
        text = plain_rune(rune)
        self.push(f"(?i:{text})" if self.flags.fold_case else text)

    def literal(self) -> None:
        self.push_rune(self.rune_at(self.at))
        self.at += 1

    def rune_at(self, at: int) -> int:
        code = ord(self.pattern[at])
        if 0xDC80 <= code <= 0xDCFF:
            raise regexp_error("invalid UTF-8", self.pattern[at:])
        return code

    def begin(self) -> None:
        self.push("(?m:^)" if self.flags.multi_line else r"\A", 1)

    def end(self) -> None:
        self.push("(?m:$)" if self.flags.multi_line else r"\z", 1)

    def any_char(self) -> None:
        self.push("(?s:.)" if self.flags.dot_newline else r"[^\n]", 1)

    def bracket(self) -> None:
        text, self.at = bracket_class(self.pattern, self.at)
        self.push(f"(?i:{text})" if self.flags.fold_case else text)

    def alternative(self) -> None:
        self.groups[-1].end_branch()
        self.at += 1

    def open(self) -> None:
        if self.pattern.startswith("(?", self.at):
            self.open_special()
            return
        self.groups.append(Group("(", self.flags))
        self.names.append("")
        self.at += 1

    def open_special(self) -> None:
        found = _NAMED_GROUP.match(self.pattern, self.at)
        if found is None:
            self.open_flags()
            return
        end = self.pattern.find(">", self.at)
        if end < 0:
            check_utf8(self.pattern[self.at :])
            raise regexp_error("invalid named capture", self.pattern[self.at :])
        name = self.pattern[found.end() : end]
        check_utf8(name)
        if not _NAME.match(name):
            raise regexp_error("invalid named capture", self.pattern[self.at : end + 1])
        self.groups.append(Group("(", self.flags))
        self.names.append(name)
        self.at = end + 1

    def open_flags(self) -> None:
        flags, end = read_flags(self.pattern, self.at, self.flags)
        if self.pattern[end] == ":":
            self.groups.append(Group("(?:", self.flags))
        self.flags = flags
        self.at = end + 1

    def close(self) -> None:
        if len(self.groups) == 1:
            raise regexp_error("unexpected )", self.pattern)
        group = self.groups.pop()
        inner = group.closed()
        self.flags = group.flags
        height = inner.height + (1 if group.opening == "(" else 0)
        self.groups[-1].atoms.append(
            self.limited(Atom(f"{group.opening}{inner.text})", height, inner.repeats))
        )
        self.at += 1

    def limited(self, atom: Atom) -> Atom:
        if atom.height > MAX_HEIGHT:
            raise regexp_error("expression nests too deeply", self.pattern)
        return atom

    def escape(self) -> None:
        following = self.pattern[self.at + 1 : self.at + 2]
        if following in _ANCHORS and following:
            self.push(_ANCHORS[following], 2)
        elif following == "C":
            raise regexp_error("invalid escape sequence", r"\C")
        elif following == "Q":
            self.quoted()
        else:
            self.class_or_rune()

    def quoted(self) -> None:
        end = self.pattern.find(r"\E", self.at + 2)
        stop = end if end >= 0 else len(self.pattern)
        for at in range(self.at + 2, stop):
            self.push_rune(self.rune_at(at))
        self.at = stop if end < 0 else end + 2

    def class_or_rune(self) -> None:
        found = class_escape(self.pattern, self.at)
        if found is None:
            rune, self.at = escaped_rune(self.pattern, self.at)
            self.push_rune(rune)
            return
        text, self.at = found
        self.push(f"(?i:[{text}])" if self.flags.fold_case else f"[{text}]")

    def counted_repeat(self) -> bool:
        found = _COUNT.match(self.pattern, self.at)
        if found is None:
            self.literal()
            return False
        least = _count(found.group(1))
        most = least if found.group(2) is None else _count(found.group(3)) if found.group(3) else -1
        if least > MAX_REPEAT or most > MAX_REPEAT or 0 <= most < least:
            raise regexp_error("invalid repeat count", found.group())
        self.repeat(least, most, found.end())
        return True

    def repeat(self, least: int, most: int, after: int) -> None:
        start, operator = self.at, self.pattern[self.at : after]
        lazy = self.flags.lazy
        if self.pattern.startswith("?", after):
            after, lazy = after + 1, not lazy
        if self.last_repeat >= 0:
            raise regexp_error("invalid nested repetition operator", self.pattern[self.last_repeat : after])
        atoms = self.groups[-1].atoms
        if not atoms:
            raise regexp_error("missing argument to repetition operator", self.pattern[start:after])
        inner = atoms.pop()
        repeats = inner.repeats if operator in _REPEATS else _multiplied(inner.repeats, least, most)
        if repeats > MAX_REPEAT and (least >= 2 or most >= 2):
            raise regexp_error("invalid repeat count", self.pattern[start:after])
        text = f"(?:{inner.text}){operator}{'?' if lazy else ''}"
        atoms.append(self.limited(Atom(text, inner.height + 1, repeats)))
        self.at = after


def _count(digits: str) -> int:
    return int(digits) if len(digits) <= 8 else MAX_REPEAT + 1


def _multiplied(inner: int, least: int, most: int) -> int:
    times = least if most < 0 else most
    if times == 0:
        return inner if most < 0 else 0
    return times * max(1, inner)


def read_flags(pattern: str, start: int, flags: Flags) -> tuple[Flags, int]:
    """Reads `(?i-s:` or `(?i)`; gives the flags and the place of the closing `:` or `)`."""
    value, seen, changed = True, False, flags
    at = start + 2
    while at < len(pattern):
        char = pattern[at]
        if "\udc80" <= char <= "\udcff":
            raise regexp_error("invalid UTF-8", pattern[at:])
        if char in _FLAG_NAMES:
            changed, seen = changed._replace(**{_FLAG_NAMES[char]: value}), True
        elif char == "-" and value:
            value, seen = False, False
        elif char in ":)" and (value or seen):
            return changed, at
        else:
            at += 1
            break
        at += 1
    raise _bad_flags(pattern[start:at])


def _bad_flags(text: str) -> GoError:
    return regexp_error("invalid or unsupported Perl syntax", text)


_FLAG_NAMES = {"i": "fold_case", "m": "multi_line", "s": "dot_newline", "U": "lazy"}
_ITEMS = {
    "(": _Parser.open,
    ")": _Parser.close,
    "|": _Parser.alternative,
    "^": _Parser.begin,
    "$": _Parser.end,
    ".": _Parser.any_char,
    "[": _Parser.bracket,
    "\\": _Parser.escape,
}
