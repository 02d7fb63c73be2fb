"""Tokens of one action to a pipeline: operands, commands, declarations; and the reading of tokens itself.

The order in which tokens are looked at is part of the contract: a parse error names the line of the last token read,
so look-ahead here is exactly as far as Go's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from steward.gotemplate.errors import GoError, ParseError
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.syntax import lexer as lex
from steward.gotemplate.syntax.lexer import Token
from steward.gotemplate.syntax.literals import number, unquote
from steward.gotemplate.syntax.nodes import (
    Bool,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Nil,
    Node,
    Number,
    Pipe,
    String,
    Variable,
)
from steward.gotemplate.values.values import byte_length

MAX_PARENTHESES: Final = 100

T = TypeVar("T")
FindFunction = Callable[[str], str | None]
"""Returns why a function may not be called (the text after Go's), or None if it may."""

_OPERANDS: Final = frozenset(
    {
        lex.BOOL,
        lex.CHAR_CONSTANT,
        lex.COMPLEX,
        lex.DOT,
        lex.FIELD,
        lex.IDENTIFIER,
        lex.NUMBER,
        lex.NIL,
        lex.RAW_STRING,
        lex.STRING,
        lex.VARIABLE,
        lex.LEFT_PAREN,
    }
)
_LITERALS: Final = (Bool, String, Number, Nil, Dot)


class Source:
    """What the parsers of one source share."""

    __slots__ = ("name", "nesting", "refusal", "text", "tokens")

    def __init__(self, name: str, text: str, tokens: list[Token], refusal: FindFunction) -> None:
        self.name = name
        self.text = text
        # Reading past the end returns the end token again.
        self.tokens = [*tokens, *tokens[-1:] * 4]
        self.refusal = refusal
        self.nesting = 0

    def line(self, pos: int) -> int:
        return 1 + self.text.count("\n", 0, pos)


class Pipelines:
    """Reads the tokens of one template, with its own variables.

    `index` is the next token; `last` the furthest one looked at before stepping back.
    """

    __slots__ = ("action_pos", "index", "last", "parens", "source", "tokens", "variables")

    def __init__(self, source: Source, index: int) -> None:
        self.source = source
        self.tokens = source.tokens
        self.index = index
        self.variables = ["$"]
        self.last = 0
        self.action_pos = -1
        self.parens = 0

    def next(self) -> Token:
        index = self.index
        self.index = index + 1
        return self.tokens[index]

    def back(self) -> None:
        """Step back over the token read last."""
        self.index = index = self.index - 1
        if index > self.last:  # noqa: PLR1730 - max() would take a third of the parser's time
            self.last = index

    def peek(self) -> Token:
        index = self.index
        if index > self.last:  # noqa: PLR1730 - max() would take a third of the parser's time
            self.last = index
        return self.tokens[index]

    def next_word(self) -> Token:
        index, tokens = self.index, self.tokens
        while (token := tokens[index])[0] == lex.SPACE:
            index += 1
        self.index = index + 1
        return token

    def peek_word(self) -> Token:
        index, tokens = self.index, self.tokens
        while (token := tokens[index])[0] == lex.SPACE:
            index += 1
        self.index = index
        if index > self.last:  # noqa: PLR1730 - max() would take a third of the parser's time
            self.last = index
        return token

    def fail(self, text: str) -> NoReturn:
        """At the line of the last token that was looked at."""
        line = self.source.line(self.tokens[max(self.last, self.index - 1)][1])
        error = ParseError(f"template: {self.source.name}:{line}: {text}", line)
        error.source = self.source.text
        raise error

    def expect(self, kinds: tuple[str, ...], context: str) -> Token:
        token = self.next_word()
        if token[0] not in kinds:
            self.unexpected(token, context)
        return token

    def unexpected(self, token: Token, context: str) -> NoReturn:
        kind, pos, text = token
        if kind == lex.ERROR:
            self.fail(text + self._where_action_started(pos, text))
        self.fail(f"unexpected {describe(token)} in {context}")

    def _where_action_started(self, pos: int, text: str) -> str:
        if self.action_pos < 0:
            return ""
        line = self.source.line(self.action_pos)
        if line == self.source.line(pos):
            return ""
        action = "" if text.endswith(" action") else " in action"
        return f"{action} started at {self.source.name}:{line}"

    def literal(self, read: Callable[[str], T], text: str) -> T:
        try:
            return read(text)
        except GoError as error:
            self.fail(error.text)

    def pipeline(self, context: str, end: str) -> Pipe:
        pipe = Pipe(self.peek_word()[1])
        self.declarations(pipe, context)
        while True:
            token = self.next_word()
            if token[0] == end:
                self.check_pipeline(pipe, context)
                return pipe
            if token[0] not in _OPERANDS:
                self.unexpected(token, context)
            self.back()
            pipe.commands.append(self.command())

    def declarations(self, pipe: Pipe, context: str) -> None:
        """Variables before `:=`, `=` or `,`; anything else is put back."""
        while (token := self.peek_word())[0] == lex.VARIABLE:
            start = self.index
            self.next()
            kind, _, text = self.peek_word()
            if kind in (lex.ASSIGN, lex.DECLARE):
                self.next_word()
                pipe.assigns = kind == lex.ASSIGN
                self.declare(pipe, token)
                return
            if kind != lex.CHAR or text != ",":
                self.index = start
                return
            self.next_word()
            self.declare(pipe, token)
            self.check_list(pipe, context)

    def declare(self, pipe: Pipe, token: Token) -> None:
        pipe.variables.append(Variable(token[1], token[2], []))
        self.variables.append(token[2])

    def check_list(self, pipe: Pipe, context: str) -> None:
        if context != "range" or len(pipe.variables) > 1:
            self.fail(f"too many declarations in {context}")
        if self.peek_word()[0] not in (lex.VARIABLE, lex.RIGHT, lex.RIGHT_PAREN):
            self.fail("range can only initialize variables")

    def check_pipeline(self, pipe: Pipe, context: str) -> None:
        if not pipe.commands:
            self.fail(f"missing value for {context}")
        for stage, command in enumerate(pipe.commands):
            if stage and isinstance(command.args[0], _LITERALS):
                self.fail(f"non executable command in pipeline stage {stage + 1}")

    def command(self) -> Command:
        args: list[Node] = []
        command = Command(self.peek_word()[1], args)
        while True:
            self.peek_word()
            operand = self.operand()
            if operand is not None:
                args.append(operand)
            token = self.next()
            if token[0] == lex.SPACE:
                continue
            if token[0] in (lex.RIGHT, lex.RIGHT_PAREN):
                self.back()
            elif token[0] != lex.PIPE:
                self.unexpected(token, "operand")
            break
        if not args:
            self.fail("empty command")
        return command

    def operand(self) -> Node | None:
        node = self.term()
        if node is None or self.peek()[0] != lex.FIELD:
            return node
        pos = self.peek()[1]
        names = []
        while self.peek()[0] == lex.FIELD:
            names.append(self.next()[2][1:])
        if isinstance(node, Field):
            return Field(pos, node.names + names)
        if isinstance(node, Variable):
            return Variable(pos, node.name, node.names + names)
        if isinstance(node, _LITERALS):
            self.fail(f"unexpected . after term {quote(str(node))}")
        return Chain(pos, node, names)

    def term(self) -> Node | None:
        token = self.next_word()
        read = _TERMS.get(token[0])
        if read is not None:
            return read(self, token)
        self.back()
        return None

    def identifier(self, token: Token) -> Node:
        refusal = self.source.refusal(token[2])
        if refusal is not None:
            self.fail(f"function {quote(token[2])} not defined{refusal}")
        return Identifier(token[1], token[2])

    def variable(self, token: Token) -> Node:
        if token[2] not in self.variables:
            self.fail(f"undefined variable {quote(token[2])}")
        return Variable(token[1], token[2], [])

    def number(self, token: Token) -> Node:
        return self.literal(lambda text: number(token[1], text, token[0]), token[2])

    def string(self, token: Token) -> Node:
        return String(token[1], token[2], self.literal(unquote, token[2]))

    def parenthesised(self, _token: Token) -> Node:
        if self.parens >= MAX_PARENTHESES:
            self.fail("max expression depth exceeded")
        self.parens += 1
        pipe = self.pipeline("parenthesized pipeline", lex.RIGHT_PAREN)
        self.parens -= 1
        return pipe


_TERMS: Final[dict[str, Callable[[Pipelines, Token], Node]]] = {
    lex.IDENTIFIER: Pipelines.identifier,
    lex.DOT: lambda _, token: Dot(token[1]),
    lex.NIL: lambda _, token: Nil(token[1]),
    lex.VARIABLE: Pipelines.variable,
    lex.FIELD: lambda _, token: Field(token[1], [token[2][1:]]),
    lex.BOOL: lambda _, token: Bool(token[1], token[2] == "true"),
    lex.CHAR_CONSTANT: Pipelines.number,
    lex.COMPLEX: Pipelines.number,
    lex.NUMBER: Pipelines.number,
    lex.LEFT_PAREN: Pipelines.parenthesised,
    lex.STRING: Pipelines.string,
    lex.RAW_STRING: Pipelines.string,
}


def describe(token: Token) -> str:
    """How Go's parser names a token in an error."""
    kind, _, text = token
    if kind == lex.EOF:
        return "EOF"
    if kind in lex.KEYWORD_TYPES:
        return f"<{text}>"
    if byte_length(text) > 10:
        return f"{quote(text[:10])}..."
    return quote(text)
