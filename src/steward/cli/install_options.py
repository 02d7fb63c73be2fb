"""What `install`, `uninstall` and `crds` share: the values they take and the objects that come of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
import msgspec
import yaml
from msgspec import structs

from steward.cli.files import NotReadable, yaml_of
from steward.cli.main import one_sentence
from steward.install.operators import SHIPPED
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

MANAGER = "steward-install"
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
        "--only", type=click.Choice([operator.word for operator in SHIPPED]), help="One operator of the two."
    )
    return values(namespace(only(verb)))


def chosen_values(values_file: Path | None, namespace: str | None, only: str | None) -> Values:
    with one_sentence(NotReadable, OSError):
        given = {} if values_file is None else yaml_of(values_file) or {}
    try:
        values = msgspec.convert(given, Values)
    except msgspec.ValidationError as error:
        raise click.ClickException(f"{values_file}: {error}") from error
    if namespace:
        values = structs.replace(values, namespace=namespace)
    for operator in SHIPPED:
        if only and operator.word != only:
            off = structs.replace(getattr(values, operator.word), enabled=False)
            values = structs.replace(values, **{operator.word: off})
    return values


def as_yaml(objects: list[Manifest]) -> str:
    return "---\n".join(
        yaml.dump(manifest, Dumper=yaml.CSafeDumper, sort_keys=False, width=110, allow_unicode=True)
        for manifest in objects
    )
