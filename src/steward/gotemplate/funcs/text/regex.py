"""Regular expressions. The plain functions panic on a bad pattern, the must twins return its error."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError, GoPanic, OverBudget
from steward.gotemplate.funcs.numbers.capacity import grown, noted
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.golang.regexp.regexp import (
    PatternTooLarge,
    Regexp,
    compile_panic,
    compile_regexp,
    quote_meta,
)
from steward.gotemplate.values.values import StringSlice, byte_length

table = Table()

MAX_PATTERN = 8 << 10


def _compiled(budget: Budget, pattern: str) -> Regexp:
    if byte_length(pattern) > MAX_PATTERN:
        raise OverBudget(f"has a regular expression longer than {MAX_PATTERN} bytes")
    budget.work(100 + 2 * len(pattern))
    try:
        regexp = compile_regexp(pattern)
    except PatternTooLarge:
        raise OverBudget("has a regular expression that is too large when compiled") from None
    budget.work(regexp.program_size // 20)
    return regexp


def _certain(budget: Budget, pattern: str) -> Regexp:
    try:
        return _compiled(budget, pattern)
    except GoError as error:
        raise GoPanic(compile_panic(pattern, error.text)) from None


@table.budgeted("mustRegexMatch(string, string) bool")
def must_regex_match(budget: Budget, pattern: str, text: str) -> bool:
    return _compiled(budget, pattern).matches(text, budget.work)


@table.budgeted("regexMatch(string, string) bool")
def regex_match(budget: Budget, pattern: str, text: str) -> bool:
    """Alone among these, a bad pattern just does not match."""
    try:
        return must_regex_match(budget, pattern, text)
    except GoError:
        return False


@table.budgeted("mustRegexFind(string, string) string")
def must_regex_find(budget: Budget, pattern: str, text: str) -> str:
    return _compiled(budget, pattern).find(text, budget.work)


@table.budgeted("regexFind(string, string) string")
def regex_find(budget: Budget, pattern: str, text: str) -> str:
    return _certain(budget, pattern).find(text, budget.work)


@table.budgeted("mustRegexFindAll(string, string, int) []string")
def must_regex_find_all(budget: Budget, pattern: str, text: str, count: int) -> StringSlice:
    return _all(budget, _compiled(budget, pattern), text, count)


@table.budgeted("regexFindAll(string, string, int) []string")
def regex_find_all(budget: Budget, pattern: str, text: str, count: int) -> StringSlice:
    return _all(budget, _certain(budget, pattern), text, count)


def _all(budget: Budget, regexp: Regexp, text: str, count: int) -> StringSlice:
    budget.build(byte_length(text))
    found = regexp.find_all(text, count, budget.work)
    return noted(budget, StringSlice(found), grown(len(found), capacity=10)) if found else StringSlice.nil()


@table.budgeted("mustRegexReplaceAll(string, string, string) string")
def must_regex_replace_all(budget: Budget, pattern: str, text: str, template: str) -> str:
    return _compiled(budget, pattern).replace_all(text, template, budget.work, budget.build)


@table.budgeted("regexReplaceAll(string, string, string) string")
def regex_replace_all(budget: Budget, pattern: str, text: str, template: str) -> str:
    return _certain(budget, pattern).replace_all(text, template, budget.work, budget.build)


@table.budgeted("mustRegexReplaceAllLiteral(string, string, string) string")
def must_regex_replace_all_literal(budget: Budget, pattern: str, text: str, new: str) -> str:
    return _compiled(budget, pattern).replace_all_literal(text, new, budget.work, budget.build)


@table.budgeted("regexReplaceAllLiteral(string, string, string) string")
def regex_replace_all_literal(budget: Budget, pattern: str, text: str, new: str) -> str:
    return _certain(budget, pattern).replace_all_literal(text, new, budget.work, budget.build)


@table.budgeted("mustRegexSplit(string, string, int) []string")
def must_regex_split(budget: Budget, pattern: str, text: str, count: int) -> StringSlice:
    return _split(budget, _compiled(budget, pattern), text, count)


@table.budgeted("regexSplit(string, string, int) []string")
def regex_split(budget: Budget, pattern: str, text: str, count: int) -> StringSlice:
    return _split(budget, _certain(budget, pattern), text, count)


def _split(budget: Budget, regexp: Regexp, text: str, count: int) -> StringSlice:
    budget.build(byte_length(text))
    pieces = regexp.split(text, count, budget.work)
    if pieces is None:
        return StringSlice.nil()
    return noted(budget, StringSlice(pieces.texts), grown(len(pieces.texts), capacity=pieces.room))


table.function("regexQuoteMeta(string) string")(quote_meta)
