"""Tokens to parse trees: control structures and definitions, refusing what Go refuses, in Go's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from steward.gotemplate.golang.quote import quote
from steward.gotemplate.syntax import lexer as lex
from steward.gotemplate.syntax.lexer import Delims, Lexer, Token
from steward.gotemplate.syntax.literals import unquote
from steward.gotemplate.syntax.nodes import (
    Action,
    Block,
    Branch,
    Command,
    Dot,
    Field,
    Invocation,
    Jump,
    Node,
    Pipe,
    Text,
    is_blank,
)
from steward.gotemplate.syntax.pipelines import FindFunction, Pipelines, Source

MAX_NESTING: Final = 60
MAX_LOOPS: Final = 16
MAX_ELSE_CHAIN: Final = 200

Trees = dict[str, Block]
_END: Final = "{{end}}"
_ELSE: Final = "{{else}}"


def parse_trees(name: str, source: str, delims: Delims, refusal: FindFunction) -> Trees:
    """Every template that a source defines, by name; the source itself is `name`."""
    trees: Trees = {}
    shared = Source(name, source, Lexer(source, delims).run(), refusal)
    _Parser(shared, trees, 0).parse_all()
    return trees


class _Parser:
    """Parses one template; a definition or block inside gets a parser of its own."""

    __slots__ = ("loops", "read", "source", "trees")

    def __init__(self, source: Source, trees: Trees, index: int) -> None:
        self.source = source
        self.trees = trees
        self.read = Pipelines(source, index)
        self.loops = 0

    def parse_all(self) -> None:
        body = Block(self.read.peek()[1])
        while (token := self.read.peek())[0] != lex.EOF:
            if token[0] == lex.LEFT:
                start = self.read.index
                self.read.next()
                if self.read.next_word()[0] == "define":
                    inner = _Parser(self.source, self.trees, self.read.index)
                    inner.definition()
                    self.read.index = inner.read.index
                    continue
                self.read.back()
                self.read.index = start
            node = self.text_or_action()
            if isinstance(node, str):
                self.read.fail(f"unexpected {node}")
            body.nodes.append(node)
        self.add(self.source.name, body)

    def add(self, name: str, body: Block) -> None:
        """A blank definition gives way to another of its name; two others clash."""
        known = self.trees.get(name)
        if known is None or is_blank(known):
            self.trees[name] = body
        elif not is_blank(body):
            self.read.fail(f"template: multiple definition of template {quote(name)}")

    def definition(self) -> None:
        context = "define clause"
        name = self.template_name(self.read.expect((lex.STRING, lex.RAW_STRING), context), context)
        self.read.expect((lex.RIGHT,), context)
        body, end = self.block()
        if end != _END:
            self.read.fail(f"unexpected {end} in {context}")
        self.add(name, body)

    def template_name(self, token: Token, context: str) -> str:
        if token[0] not in (lex.STRING, lex.RAW_STRING):
            self.read.unexpected(token, context)
        return self.read.literal(unquote, token[2])

    def block(self) -> tuple[Block, str]:
        """Nodes up to `{{end}}` or `{{else}}`, and which of them it was."""
        self.source.nesting += 1
        if self.source.nesting > MAX_NESTING:
            self.read.fail(f"control structures nested deeper than {MAX_NESTING}")
        body = Block(self.read.peek_word()[1])
        while self.read.peek_word()[0] != lex.EOF:
            node = self.text_or_action()
            if isinstance(node, str):
                self.source.nesting -= 1
                return body, node
            body.nodes.append(node)
        return self.read.fail("unexpected EOF")

    def text_or_action(self) -> Node | str:
        token = self.read.next_word()
        kind = token[0]
        if kind == lex.TEXT:
            return Text(token[1], token[2])
        if kind == lex.WHOLE:
            self.read.action_pos = -1
            return _WORDS.get(token[2]) or simple_action(token[1], token[2])
        if kind != lex.LEFT:
            self.read.unexpected(token, "input")
        self.read.action_pos = token[1]
        node = self.action()
        self.read.action_pos = -1
        return node

    def action(self) -> Node | str:
        kind, pos, _ = self.read.next_word()
        control = _CONTROLS.get(kind)
        if control is not None:
            return control(self, kind, pos)
        self.read.back()
        return Action(pos, self.read.pipeline("command", lex.RIGHT))

    def jump(self, word: str, pos: int) -> Node:
        token = self.read.next_word()
        if token[0] != lex.RIGHT:
            self.read.unexpected(token, f"{{{{{word}}}}}")
        if self.loops == 0:
            self.read.fail(f"{{{{{word}}}}} outside {{{{range}}}}")
        return Jump(pos, word)

    def end(self, _word: str, _pos: int) -> str:
        self.read.expect((lex.RIGHT,), "end")
        return _END

    def otherwise(self, _word: str, _pos: int) -> str:
        if self.read.peek_word()[0] not in ("if", "with"):
            self.read.expect((lex.RIGHT,), "else")
        return _ELSE

    def invocation(self, _word: str, _pos: int) -> Node:
        context = "template clause"
        token = self.read.next_word()
        name = self.template_name(token, context)
        pipe = None
        if self.read.next_word()[0] != lex.RIGHT:
            self.read.back()
            pipe = self.read.pipeline(context, lex.RIGHT)
        return Invocation(token[1], name, pipe)

    def block_clause(self, _word: str, _pos: int) -> Node:
        context = "block clause"
        token = self.read.next_word()
        name = self.template_name(token, context)
        pipe = self.read.pipeline(context, lex.RIGHT)
        inner = _Parser(self.source, self.trees, self.read.index)
        body, end = inner.block()
        self.read.last, self.read.index = self.read.index - 1, inner.read.index
        if end != _END:
            self.read.index = self.read.last + 1
            self.read.fail(f"unexpected {end} in {context}")
        inner.add(name, body)
        return Invocation(token[1], name, pipe)

    def branch(self, word: str, _pos: int) -> Node:
        return self.chained_branch(word, 0)

    def chained_branch(self, word: str, links: int) -> Branch:
        known = len(self.read.variables)
        pipe = self.read.pipeline(word, lex.RIGHT)
        body, end = self.loop_body() if word == "range" else self.block()
        otherwise = None
        if end == _ELSE:
            otherwise = self.else_branch(word, links)
        del self.read.variables[known:]
        return Branch(word, pipe, body, otherwise)

    def loop_body(self) -> tuple[Block, str]:
        self.loops += 1
        if self.loops > MAX_LOOPS:
            self.read.fail(f"range nested deeper than {MAX_LOOPS}")
        body = self.block()
        self.loops -= 1
        return body

    def else_branch(self, word: str, links: int) -> Block:
        if word in ("if", "with") and self.read.peek()[0] == word:
            if links > MAX_ELSE_CHAIN:
                self.read.fail(f"more than {MAX_ELSE_CHAIN} branches in one {word}")
            chained = Block(self.read.next()[1])
            chained.nodes.append(self.chained_branch(word, links + 1))
            return chained
        body, end = self.block()
        if end != _END:
            self.read.fail(f"expected end; found {end}")
        return body


_WORDS: Final = {"end": _END, "else": _ELSE}


def simple_action(pos: int, text: str) -> Action:
    """An action that is dot or a chain of its fields."""
    names = text[1:].split(".")
    # Go gives a chain of fields the position of its second part.
    field = Field(pos + len(names[0]) + 1 if len(names) > 1 else pos, names)
    pipe = Pipe(pos)
    pipe.commands.append(Command(pos, [field if text != "." else Dot(pos)]))
    return Action(pos, pipe)


_CONTROLS: Final[dict[str, Callable[[_Parser, str, int], Node | str]]] = {
    "block": _Parser.block_clause,
    "break": _Parser.jump,
    "continue": _Parser.jump,
    "else": _Parser.otherwise,
    "end": _Parser.end,
    "if": _Parser.branch,
    "range": _Parser.branch,
    "template": _Parser.invocation,
    "with": _Parser.branch,
}
