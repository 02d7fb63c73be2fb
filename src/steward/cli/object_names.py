"""How a user may name an object: by its kind in any spelling of kubectl, and where the kind is clear, without it."""

from __future__ import annotations

from typing import Any, Final

import click

SHORT_NAMES: Final = {
    "cel": "cell",
    "cet": "celltemplate",
    "cot": "coretemplate",
    "deploy": "deployment",
    "mgc": "multigrescluster",
    "po": "pod",
    "pvc": "persistentvolumeclaim",
    "rs": "replicaset",
    "sht": "shardtemplate",
    "srd": "shard",
    "sts": "statefulset",
    "tbg": "tablegroup",
    "tps": "toposerver",
}


def means(word: str, kind: str) -> bool:
    """Whether `word` is this kind: as it is written, in the plural, short, or with its group."""
    own = kind.lower()
    said = word.lower().partition(".")[0]
    return SHORT_NAMES.get(said, said) in (own, f"{own}s", f"{own.removesuffix('y')}ies")


class NameOf(click.ParamType[str]):
    """`NAME` or `KIND/NAME` of an object of one kind; the name alone comes out."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        kind, slash, name = str(value).rpartition("/")
        if slash and not means(kind, self.kind):
            self.fail(f"{value} is no {self.kind}: name one, as NAME or {self.kind.lower()}/NAME", param, ctx)
        return name
