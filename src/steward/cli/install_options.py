"""Options and YAML output shared by `install`, `uninstall` and `crds`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
import msgspec
import yaml
from msgspec import structs

from steward.cli.files import UnreadableFile, read_yaml
from steward.cli.main import expected_errors
from steward.install.operators import OPERATORS
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

FIELD_MANAGER = "steward-install"
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def value_options(verb: _Decorated) -> _Decorated:
    values = click.option(
        "--values",
        "values_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A YAML file of values, as the Helm chart takes them (chart/values.yaml lists all).",
    )
    namespace = click.option("-n", "--namespace", help="Where the operators run. Default: steward-system.")
    only = click.option(
        "--only",
        type=click.Choice([operator.short_name for operator in OPERATORS]),
        help="Only this operator.",
    )
    return values(namespace(only(verb)))


def load_values(values_file: Path | None, namespace: str | None, only: str | None) -> Values:
    with expected_errors(UnreadableFile, OSError):
        given = {} if values_file is None else read_yaml(values_file) or {}
    try:
        values = msgspec.convert(given, Values)
    except msgspec.ValidationError as error:
        raise click.ClickException(f"{values_file}: {error}") from error
    if namespace:
        values = structs.replace(values, namespace=namespace)
    for operator in OPERATORS:
        if only and operator.short_name != only:
            off = structs.replace(getattr(values, operator.short_name), enabled=False)
            values = structs.replace(values, **{operator.short_name: off})
    return values


def dump_yaml(objects: list[Manifest]) -> str:
    return "---\n".join(
        yaml.dump(manifest, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
        for manifest in objects
    )
