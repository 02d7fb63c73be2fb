"""Parses KIND/NAME arguments; kinds are accepted in every spelling of kubectl."""

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


def matches_kind(word: str, kind: str) -> bool:
    """Whether `word` names this kind: singular, plural, short name, with or without the group."""
    singular = kind.lower()
    given = word.lower().partition(".")[0]
    return SHORT_NAMES.get(given, given) in (singular, f"{singular}s", f"{singular.removesuffix('y')}ies")


class ObjectName(click.ParamType[str]):
    """A parameter `NAME` or `KIND/NAME` of one kind; converts to the name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        kind, slash, name = str(value).rpartition("/")
        if slash and not matches_kind(kind, self.kind):
            self.fail(
                f"{value} is not a {self.kind}: name one, as NAME or {self.kind.lower()}/NAME", param, ctx
            )
        return name
