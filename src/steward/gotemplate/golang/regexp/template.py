"""The replacement text of Go's regexp: `$1`, `$name`, `${name}`, `$$`."""

from __future__ import annotations

from collections.abc import Callable

from steward.gotemplate.golang.unicode import is_digit, is_letter

Span = tuple[int, int]


def expand(
    template: str,
    names: tuple[str, ...],
    spans: list[Span],
    group: Callable[[Span], str | None],
) -> str:
    """The template with its references replaced by what the groups matched; unknown ones are empty."""
    out: list[str] = []
    at = 0
    while True:
        dollar = template.find("$", at)
        if dollar < 0:
            break
        out.append(template[at:dollar])
        at = dollar + 1
        if template.startswith("$", at):
            out.append("$")
            at += 1
            continue
        name, at = _reference(template, at)
        out.append("$" if name is None else _matched(name, names, spans, group))
    out.append(template[at:])
    return "".join(out)


def _reference(template: str, at: int) -> tuple[str | None, int]:
    """The name after a dollar and the place after it; None if there is no name, and the dollar stands for itself."""
    braced = template.startswith("{", at)
    start = end = at + 1 if braced else at
    while end < len(template) and (
        template[end] == "_" or is_letter(template[end]) or is_digit(template[end])
    ):
        end += 1
    if end == start or (braced and not template.startswith("}", end)):
        return None, at
    return template[start:end], end + 1 if braced else end


def _matched(
    name: str,
    names: tuple[str, ...],
    spans: list[Span],
    group: Callable[[Span], str | None],
) -> str:
    number = _group_number(name)
    if number is not None:
        return (group(spans[number]) or "") if number < len(spans) else ""
    for index, known in enumerate(names):
        if known == name and spans[index][0] >= 0:
            return group(spans[index]) or ""
    return ""


def _group_number(name: str) -> int | None:
    """A decimal without leading zeros; `$01` and `$1W` are names."""
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and len(name) > 1):
        return None
    return int(name) if len(name) <= 8 else None
