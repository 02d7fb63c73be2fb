"""How verbs print objects: a table for people, or JSON or YAML for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

TEXT, WIDE, JSON, YAML = "text", "wide", "json", "yaml"
_GAP = "  "


def output_option(verb: _Decorated) -> _Decorated:
    choice = click.Choice([TEXT, WIDE, JSON, YAML])
    return click.option(
        "-o", "--output", type=choice, default=TEXT, show_default=True, help="In which form."
    )(verb)


def is_for_programs(output: str) -> bool:
    return output in (JSON, YAML)


def print_value(value: Any, output: str) -> None:
    """Plain values, the same in both forms."""
    if output == JSON:
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
        return
    import yaml

    text = yaml.dump(value, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
    click.echo(text, nl=False)


def some_of(names: Sequence[str], most: int = 10) -> str:
    """Names in a sentence; of many, the first and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown or "none"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest text; the last one is as long as it is. Pure."""
    lines = [tuple(heads), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return [_line(line, widths) for line in lines]


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
