"""Output formats of the verbs: a table, JSON or YAML."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

TEXT, WIDE, JSON, YAML = "text", "wide", "json", "yaml"
_COLUMN_GAP = "  "


def output_option(verb: _Decorated) -> _Decorated:
    choice = click.Choice([TEXT, WIDE, JSON, YAML])
    return click.option(
        "-o", "--output", type=choice, default=TEXT, show_default=True, help="Output format."
    )(verb)


def is_machine_readable(output: str) -> bool:
    return output in (JSON, YAML)


def print_value(value: Any, output: str) -> None:
    """Prints the value as JSON or YAML."""
    if output == JSON:
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
        return
    import yaml

    text = yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
    click.echo(text, nl=False)


def summarize_names(names: Sequence[str], most: int = 10) -> str:
    """Joins names for a sentence: the first `most`, and the number of the others."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "none"


def describe_count(count: int, kind: str) -> str:
    """`1 Tenant`, `2 Ingresses`, `3 TenantRegistries`."""
    if count == 1 or (kind.endswith("s") and not kind.endswith("ss")):
        return f"{count} {kind}"
    if kind.endswith("y"):
        return f"{count} {kind.removesuffix('y')}ies"
    return f"{count} {kind}{'es' if kind.endswith('ss') else 's'}"


def echo_wrapped(text: str) -> None:
    """Prints a sentence, wrapped between words if the output is a terminal."""
    for line in wrap_for_terminal(text):
        click.echo(line)


def wrap_for_terminal(text: str) -> list[str]:
    if not _is_terminal():
        return [text]
    # Imported here: programs that read the output need no wrapping.
    from steward.cli.word_wrap import wrap_text

    return [line for part in text.splitlines() for line in wrap_text(part, _terminal_width())]


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _terminal_width() -> int:
    return shutil.get_terminal_size().columns


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table; on a terminal that is too narrow for it, each row as a block of lines."""
    listed = list(rows)
    lines = format_table(heads, listed)
    if _is_terminal() and max(map(len, lines)) > _terminal_width():
        lines = format_blocks(heads, listed)
    for line in lines:
        click.echo(line)


def format_blocks(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Each row as lines of a head and a text, and an empty line between rows. Pure."""
    width = max(map(len, heads))
    blocks = [
        [f"{head.ljust(width)}{_COLUMN_GAP}{text}".rstrip() for head, text in zip(heads, row, strict=True)]
        for row in rows
    ]
    return [line for number, block in enumerate(blocks) for line in (("", *block) if number else block)]


def format_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Pads columns to their widest text, except the last. Pure."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return [_format_row(line, widths) for line in lines]


def _format_row(texts: Sequence[str], widths: Sequence[int]) -> str:
    return _COLUMN_GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
