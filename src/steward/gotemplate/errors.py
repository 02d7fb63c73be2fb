"""Everything this package raises.

    TemplateError               what callers see; str() is Go's own text
    ├── ParseError              the template is no template
    └── ExecError               it failed while running
        └── BudgetExceeded      it asked for more output, steps, depth or memory than it may have

Inside only, until the engine has added where it happened:

    GoError                     a function's returned error
    ├── GoPanic                 a panic, which Go's engine turns into an error as well
    └── BadSignature            a method that Go's engine refuses to call
    OverBudget                  a budget ran out
"""

from __future__ import annotations

from steward.gotemplate.values.utf8 import without_surrogates


class TemplateError(Exception):
    """A template that cannot be parsed or run; `source` is its text.

    `line` counts from 1, `column` counts bytes from 0, as Go does.
    """

    def __init__(self, text: str, line: int = 0, column: int | None = None) -> None:
        # A template may quote bytes that are no UTF-8; an error is for people and logs, and must be printable.
        if not text.isascii():
            text = without_surrogates(text)
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column
        self.source = ""

    def __str__(self) -> str:
        return self.text


class ParseError(TemplateError):
    pass


class ExecError(TemplateError):
    pass


class BudgetExceeded(ExecError):
    pass


class GoError(Exception):
    """What a Go function would return as its error; the text is Go's."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text

    @property
    def text(self) -> str:
        return self._text

    def __str__(self) -> str:
        return self.text


class GoPanic(GoError):
    """What a Go function would panic with."""


class BadSignature(GoError):
    """A method whose results templates cannot take; the text is the whole error, no call was made."""


class OverBudget(Exception):
    """A budget ran out. The text says which."""
