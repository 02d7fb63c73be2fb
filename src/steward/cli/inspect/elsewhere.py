"""Says where things are when the selected namespace has none, or that Steward is not installed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Final

from steward.cli.hints import command_line
from steward.cli.output import describe_count
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, KubeError, NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind
from steward.kube.objects.options import ListQuery

_ROOTS: Final = (
    Kind("multigres.com/v1alpha1", "MultigresCluster"),
    Kind("operator.kubernetes-tenants.org/v1", "TenantRegistry"),
)
_SHOWN: Final = 5
NOT_INSTALLED: Final = "Steward is not installed in this cluster"


class NotInstalled(KubeError):
    """The cluster does not serve our kinds."""

    def __init__(self) -> None:
        super().__init__(f"{NOT_INSTALLED}: `{command_line('install', '--apply')}` installs it")


Counts = Mapping[str, Counter[str]]
"""By namespace, how many objects of each kind."""


async def read_elsewhere(client: Client) -> str:
    """A sentence; empty if there is nothing to say, or if the user may not read other namespaces.

    Raises NotInstalled if the cluster serves none of our kinds."""
    try:
        listed = await asyncio.gather(*(_namespaces_of(client, kind) for kind in _ROOTS))
    except Forbidden:
        return ""
    if all(found is None for found in listed):
        raise NotInstalled
    counts: dict[str, Counter[str]] = {}
    for kind, found in zip(_ROOTS, listed, strict=True):
        for namespace in found or ():
            counts.setdefault(namespace, Counter())[kind.kind] += 1
    return describe_elsewhere(counts)


async def require_installed(client: Client, *kinds: Kind) -> None:
    """Raises if the cluster serves none of these kinds: "nothing is held" would be true, and misleading."""
    for kind in kinds:
        try:
            await client.discovery.resource(kind)
        except NoSuchKind:
            continue
        return
    raise NotInstalled


async def _namespaces_of(client: Client, kind: Kind) -> list[str] | None:
    """The namespace of each object; None if the cluster does not serve the kind."""
    try:
        listing = await client.list(kind, ListQuery())
    except (NoSuchKind, NotFound):
        return None
    return [item["metadata"]["namespace"] for item in listing.items]


def describe_elsewhere(counts: Counts) -> str:
    if not counts:
        return ""
    shown = [f"{name} ({_describe_counts(counts[name])})" for name in sorted(counts)[:_SHOWN]]
    more = f" and {len(counts) - _SHOWN} more" if len(counts) > _SHOWN else ""
    return f"Other namespaces have some: {', '.join(shown)}{more}. Add -n {min(counts)}, or -A for all."


def _describe_counts(counts: Counter[str]) -> str:
    return ", ".join(describe_count(count, kind) for kind, count in counts.items())
