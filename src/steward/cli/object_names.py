"""Parses KIND/NAME arguments; kinds are accepted in every spelling of kubectl."""

from __future__ import annotations

from typing import Any, Final

import click
from click.shell_completion import CompletionItem

API_VERSIONS: Final = {
    "MultigresCluster": "multigres.com/v1alpha1",
    "TenantRegistry": "operator.kubernetes-tenants.org/v1",
}
"""Of the kinds that verbs take without naming them."""
SHORT_NAMES: Final = {
    "cel": "cell",
    "cet": "celltemplate",
    "cot": "coretemplate",
    "deploy": "deployment",
    "mgb": "multigresbackup",
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

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        # Imported here: only a shell that completes a line needs it.
        from steward.cli.name_completion import complete_objects
        from steward.kube.objects.kinds import Kind

        kind = Kind(API_VERSIONS[self.kind], self.kind)
        return [CompletionItem(name) for name in complete_objects(ctx, kind, incomplete)]


def complete_revisions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For arguments `REVISION` after a cluster."""
    # Imported here: only a shell that completes a line needs it.
    from steward.cli import name_completion

    return name_completion.complete_revisions(context, parameter, incomplete)


def complete_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For arguments `[KIND/]NAME`."""
    # Imported here: only a shell that completes a line needs it.
    from steward.cli.name_completion import complete_named

    return complete_named(context, parameter, incomplete)
