"""Completes names of objects and namespaces in a shell, by asking the cluster that the command line names.

A cluster that does not answer in time, or a request that is denied, completes nothing: an error has no place in a
shell that waits for the rest of a line.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import Any, Final

import click

from steward.cli.connection import config_source, load_connection_settings, with_client
from steward.cli.object_names import matches_kind
from steward.kube.client.client import Client
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import NAMESPACE, Kind
from steward.kube.objects.options import ListQuery

_SECONDS: Final = 3.0
_OPTIONS: Final = ("kubeconfig", "context", "local")
_NAMED: Final = (
    Kind("multigres.com/v1alpha1", "MultigresCluster"),
    Kind("operator.kubernetes-tenants.org/v1", "TenantRegistry"),
    Kind("operator.kubernetes-tenants.org/v1", "TenantTemplate"),
    Kind("operator.kubernetes-tenants.org/v1", "Tenant"),
)


def complete_namespaces(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return _complete(context, NAMESPACE, incomplete, is_namespaced=False)


def complete_objects(context: click.Context, kind: Kind, incomplete: str) -> list[str]:
    """Names of a kind in the namespace of the command line."""
    return _complete(context, kind, incomplete, is_namespaced=True)


def complete_named(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """`[KIND/]NAME`: names of clusters and registries and the kinds; after a kind, the names of that kind."""
    word, slash, start = incomplete.rpartition("/")
    if slash:
        kinds = [kind for kind in _NAMED if matches_kind(word, kind.kind)]
        return [f"{word}/{name}" for kind in kinds for name in complete_objects(context, kind, start)]
    words = [f"{kind.kind.lower()}/" for kind in _NAMED if kind.kind.lower().startswith(start.lower())]
    names = [name for kind in _NAMED[:2] for name in complete_objects(context, kind, start)]
    return [*names, *words]


def complete_revisions(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The template revisions that the cluster of the command line keeps."""
    with redirect_stderr(io.StringIO()):
        try:
            names = _read_revisions(context.params)
        except (click.ClickException, KubeError, OSError):
            return []
    return sorted(name for name in names if name.startswith(incomplete))


def _read_revisions(given: dict[str, Any]) -> list[str]:
    from steward.cli.template_updates import read_template_state

    source, here = _scope(given)

    async def revisions(client: Client) -> list[str]:
        state = await read_template_state(client.with_timeout(_SECONDS), here, given.get("cluster") or "")
        return [] if state is None else [revision.name for revision in state.revisions]

    return with_client(source, revisions)


def _complete(context: click.Context, kind: Kind, incomplete: str, *, is_namespaced: bool) -> list[str]:
    with redirect_stderr(io.StringIO()):
        try:
            names = _read_names(context.params, kind, is_namespaced)
        except (click.ClickException, KubeError, OSError):
            return []
    return sorted(name for name in names if name.startswith(incomplete))


def _read_names(given: dict[str, Any], kind: Kind, is_namespaced: bool) -> list[str]:
    source, here = _scope(given)
    query = ListQuery(namespace=here) if is_namespaced else ListQuery()

    async def names(client: Client) -> list[str]:
        found = await client.with_timeout(_SECONDS).list(kind, query)
        return [item["metadata"]["name"] for item in found.items]

    return with_client(source, names)


def _scope(given: dict[str, Any]) -> tuple[ConfigSource, str]:
    """The cluster and the namespace of the command line."""
    source = config_source({name: given.get(name) or "" for name in _OPTIONS})
    return source, given.get("namespace") or load_connection_settings(source).namespace
