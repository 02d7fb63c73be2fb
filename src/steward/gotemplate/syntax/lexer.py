"""Template text to tokens. Never fails: the first thing that is no token becomes an ERROR token with Go's words.

One regular expression recognises a well-formed token; only what it does not match (non-ASCII names, odd numbers,
mistakes) is read character by character, because there Go's exact behaviour matters more than speed.
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from steward.gotemplate.golang.quote import quote
from steward.gotemplate.golang.unicode import is_digit, is_letter

ERROR: Final = "error"
EOF: Final = "eof"
WHOLE: Final = "whole"
"""A whole action in one token; its text is what stands between the delimiters."""
TEXT: Final = "text"
LEFT: Final = "left"
RIGHT: Final = "right"
SPACE: Final = "space"
BOOL: Final = "bool"
CHAR: Final = "char"
CHAR_CONSTANT: Final = "rune"
NUMBER: Final = "number"
COMPLEX: Final = "complex"
STRING: Final = "string"
RAW_STRING: Final = "raw"
NIL: Final = "nil"
DOT: Final = "dot"
FIELD: Final = "field"
VARIABLE: Final = "variable"
IDENTIFIER: Final = "identifier"
ASSIGN: Final = "="
DECLARE: Final = ":="
PIPE: Final = "|"
LEFT_PAREN: Final = "("
RIGHT_PAREN: Final = ")"

KEYWORDS: Final = {
    word: word
    for word in (
        "block",
        "break",
        "continue",
        "define",
        "else",
        "end",
        "if",
        "nil",
        "range",
        "template",
        "with",
    )
} | {"true": BOOL, "false": BOOL}
KEYWORD_TYPES: Final = frozenset({*KEYWORDS.values(), DOT} - {BOOL})

MAX_COMMANDS: Final = 3000
"""Actions, pipes and parentheses of one source: what it takes to parse and compile grows with them."""

BLANKS: Final = " \t\r\n"
Token = tuple[str, int, str]
"""Type, position of its first character, text."""


class Delims(NamedTuple):
    left: str = "{{"
    right: str = "}}"


def delims_of(left: str, right: str) -> Delims:
    """An empty delimiter stands for the usual one."""
    return Delims(left or "{{", right or "}}")


@functools.lru_cache(maxsize=16)
def _token_pattern(right: str) -> re.Pattern[str]:
    end = re.escape(right)
    stop = rf"(?=[ \t\r\n.,|:)(]|{end}|\Z)"
    return re.compile(
        rf"""(?P<right>[ \t\r\n]-{end}[ \t\r\n]*|{end})
        |(?P<space>[ \t\r\n]+(?=[ \t\r\n]-{end})|[ \t\r\n]+)
        |(?P<field>\.[A-Za-z_][A-Za-z0-9_]*){stop}
        |(?P<identifier>[A-Za-z_][A-Za-z0-9_]*){stop}
        |(?P<string>"(?:[^"\\\n]|\\[^\n])*")
        |(?P<variable>\$[A-Za-z0-9_]*){stop}
        |(?P<dot>\.){stop}(?!\Z)
        |(?P<number>-?[0-9]+)(?=[ \t\r\n|)]|{end})
        |(?P<declare>:=)
        |(?P<punct>[|()=])
        |(?P<raw>`[^`]*`)
        |(?P<rune>'(?:[^'\\\n]|\\[^\n])*')""",
        re.VERBOSE,
    )


@functools.lru_cache(maxsize=16)
def _whole_pattern(right: str) -> re.Pattern[str]:
    """The inside of an action that is nothing but fields, dot, `end` or `else`, on one line: most actions are."""
    if re.search(r"[\w. \t-]", right):
        return re.compile("(?!)")  # Such a delimiter may begin inside a word: the pattern would read past it.
    end = re.escape(right)
    word = r"(?P<fields>(?:\.[A-Za-z_][A-Za-z0-9_]*)+|\.)|(?P<end>end)|(?P<else>else)"
    return re.compile(rf"[ \t]*(?:{word})(?:[ \t]+-{end}[ \t\r\n]*|[ \t]*{end})")


PUNCTUATION: Final = {"|": PIPE, "(": LEFT_PAREN, ")": RIGHT_PAREN, "=": ASSIGN}


class Lexer:
    """Reads one source into `tokens`; the last one is EOF or ERROR."""

    def __init__(self, source: str, delims: Delims) -> None:
        self.source = source
        self.left, self.right = delims
        self.tokens: list[Token] = []
        self.commands = 0

    def run(self) -> list[Token]:
        pos = 0
        while pos >= 0:
            pos = self._text(pos)
        return self.tokens

    def over_limit(self) -> bool:
        self.commands += 1
        return self.commands > MAX_COMMANDS

    def _fail(self, pos: int, text: str) -> int:
        self.tokens.append((ERROR, pos, text))
        return -1

    def _text(self, pos: int) -> int:
        """The text before the next action, then that action. Returns where the next text starts, -1 at the end."""
        source = self.source
        start = source.find(self.left, pos)
        if start < 0:
            if pos < len(source):
                self.tokens.append((TEXT, pos, source[pos:]))
            self.tokens.append((EOF, len(source), "EOF"))
            return -1
        inside = start + len(self.left)
        trims = source.startswith("-", inside) and source[inside + 1 : inside + 2] in BLANK_SET
        if start > pos:
            text = source[pos:start].rstrip(BLANKS) if trims else source[pos:start]
            if text:
                self.tokens.append((TEXT, pos, text))
        if trims:
            inside += 2
        if source.startswith("/*", inside):
            return self._comment(inside)
        if self.over_limit():
            return self._fail(start, TOO_MANY)
        whole = _whole_pattern(self.right).match(source, inside)
        if whole is not None:
            self.tokens.append((WHOLE, whole.start(whole.lastindex or 0), whole[whole.lastindex or 0]))
            return whole.end()
        self.tokens.append((LEFT, start, self.left))
        return self._action(inside)

    def _comment(self, pos: int) -> int:
        end = self.source.find("*/", pos + 2)
        if end < 0:
            return self._fail(pos, "unclosed comment")
        close = _token_pattern(self.right).match(self.source, end + 2)
        if close is None or close.lastgroup != "right":
            return self._fail(pos, "comment ends before closing delimiter")
        return close.end()

    def _action(self, pos: int) -> int:
        match, source, add = _token_pattern(self.right).match, self.source, self.tokens.append
        depth = 0
        while True:
            found = match(source, pos)
            if found is None:
                pos = self._odd(pos)
                if pos < 0:
                    return -1
                continue
            kind, text = found.lastgroup, found[0]
            if kind == "punct":
                depth += (text == "(") - (text == ")")
                if depth < 0:
                    return self._fail(pos, "unexpected right paren")
                add((PUNCTUATION[text], pos, text))
                if self.over_limit():
                    return self._fail(pos, TOO_MANY)
            elif kind == "identifier":
                add((KEYWORDS.get(text, IDENTIFIER), pos, text))
            elif kind == "right":
                if depth:
                    return self._fail(pos, "unclosed left paren")
                add((RIGHT, pos if text[0] not in BLANK_SET else pos + 2, self.right))
                return found.end()
            else:
                add((TOKEN_TYPES[kind or ""], pos, text))
            pos = found.end()

    def _odd(self, pos: int) -> int:
        """One token that the pattern does not know. Returns the position after it, -1 after an error."""
        if pos >= len(self.source):
            return self._fail(pos, "unclosed action")
        kind, end, text = OddToken(self.source, pos, self.right).read()
        if kind == ERROR:
            return self._fail(pos, text)
        self.tokens.append((kind, pos, self.source[pos:end]))
        return end


TOO_MANY: Final = f"more than {MAX_COMMANDS} commands in one template"
BLANK_SET: Final = frozenset(BLANKS)
TOKEN_TYPES: Final = {
    "space": SPACE,
    "field": FIELD,
    "string": STRING,
    "variable": VARIABLE,
    "dot": DOT,
    "number": NUMBER,
    "declare": DECLARE,
    "raw": RAW_STRING,
    "rune": CHAR_CONSTANT,
}
_DECIMAL: Final = "0123456789_"
_HEXADECIMAL: Final = "0123456789abcdefABCDEF_"


class OddToken:
    """Reads one token character by character, as Go's scanner does. A character past the end is ''."""

    def __init__(self, source: str, pos: int, right: str) -> None:
        self.source = source
        self.start = self.pos = pos
        self.right = right

    def read(self) -> tuple[str, int, str]:
        char = self._peek()
        if char == ":":
            return self._error("expected :=")
        if char in ('"', "`", "'"):
            return self._error(_UNTERMINATED[char])
        if char == "$" or (char == "." and not self._starts_number()):
            return self._field_or_variable(FIELD if char == "." else VARIABLE)
        if char in "+-." or "0" <= char <= "9":
            return self._number()
        if is_alphanumeric(char):
            return self._identifier()
        if " " <= char <= "~":
            return CHAR, self.pos + 1, char
        return self._error(f"unrecognized character in action: {describe_rune(char)}")

    def _peek(self) -> str:
        return self.source[self.pos : self.pos + 1]

    def _starts_number(self) -> bool:
        after = self.source[self.pos + 1 : self.pos + 2]
        return after == "" or "0" <= after <= "9"

    def _error(self, text: str) -> tuple[str, int, str]:
        return ERROR, self.pos, text

    def _at_terminator(self) -> bool:
        char = self._peek()
        return char in TERMINATORS or self.source.startswith(self.right, self.pos)

    def _absorb_name(self) -> None:
        while is_alphanumeric(self._peek()):
            self.pos += 1

    def _field_or_variable(self, kind: str) -> tuple[str, int, str]:
        self.pos += 1
        if self._at_terminator():
            return (DOT if kind == FIELD else VARIABLE), self.pos, ""
        return self._named(kind)

    def _identifier(self) -> tuple[str, int, str]:
        return self._named(IDENTIFIER)

    def _named(self, kind: str) -> tuple[str, int, str]:
        self._absorb_name()
        if not self._at_terminator():
            return self._error(f"bad character {describe_rune(self._peek())}")
        return kind, self.pos, ""

    def _accept(self, chars: str) -> bool:
        char = self._peek()
        if char and char in chars:
            self.pos += 1
            return True
        return False

    def _accept_run(self, chars: str) -> None:
        while self._accept(chars):
            pass

    def _number(self) -> tuple[str, int, str]:
        if not self._scan_number():
            return self._bad_number()
        if self._peek() not in ("+", "-"):
            return NUMBER, self.pos, ""
        if not self._scan_number() or self.source[self.pos - 1] != "i":
            return self._bad_number()
        return COMPLEX, self.pos, ""

    def _bad_number(self) -> tuple[str, int, str]:
        return self._error(f"bad number syntax: {quote(self.source[self.start : self.pos])}")

    def _scan_number(self) -> bool:
        self._accept("+-")
        digits = self._digits_of_base()
        self._accept_run(digits)
        if self._accept("."):
            self._accept_run(digits)
        if (digits is _DECIMAL and self._accept("eE")) or (digits is _HEXADECIMAL and self._accept("pP")):
            self._accept("+-")
            self._accept_run(_DECIMAL)
        self._accept("i")
        if is_alphanumeric(self._peek()):
            self.pos += 1
            return False
        return True

    def _digits_of_base(self) -> str:
        if not self._accept("0"):
            return _DECIMAL
        if self._accept("xX"):
            return _HEXADECIMAL
        if self._accept("oO"):
            return "01234567_"
        return "01_" if self._accept("bB") else _DECIMAL


TERMINATORS: Final = frozenset({"", *BLANKS, ".", ",", "|", ":", ")", "("})
_UNTERMINATED: Final = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
}


def is_alphanumeric(char: str) -> bool:
    return char != "" and (char == "_" or is_letter(char) or is_digit(char))


def describe_rune(char: str) -> str:
    """Go's %#U, with its end of input (-1) and its replacement character for a byte that is no UTF-8."""
    if char == "":
        return "U+FFFFFFFFFFFFFFFF"
    if "\ud800" <= char <= "\udfff":
        char = "\ufffd"
    shown = f" '{char}'" if char.isprintable() else ""
    return f"U+{ord(char):04X}{shown}"
