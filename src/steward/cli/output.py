"""Output formats of the verbs: a table, JSON or YAML."""

from __future__ import annotations

import json
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


def format_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Pads columns to their widest text, except the last. Pure."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return [_format_row(line, widths) for line in lines]


def _format_row(texts: Sequence[str], widths: Sequence[int]) -> str:
    return _COLUMN_GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
