"""Which objects the page watches: those that `steward tree` reads, and a few kinds that views show in detail. Pure.

Secrets are in no rule, and a test holds that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from steward.cli.inspect.fetch import LABEL_SELECTORS, SHARED_API_VERSIONS
from steward.cli.inspect.object_tree import KINDS
from steward.kube.cache.rules import CacheRule
from steward.kube.objects import kinds
from steward.kube.objects.kinds import EVENT, Kind
from steward.kube.objects.meta import Metadata
from steward.multigres.template_updates.revisions import COMPONENT
from steward.page.inventory.inventory import DETAIL_ONLY

WATCHED: Final = (*KINDS, *DETAIL_ONLY)
Namespaces = tuple[str, ...]
"""Namespaces to watch, `EVERY_NAMESPACE` for all of them."""


def watch_rules(allowed: Mapping[Kind, Namespaces]) -> list[CacheRule[Metadata]]:
    """The rules for what the reader may list and watch."""
    return [
        CacheRule(kind, Metadata, dict.fromkeys(namespaces, selector))
        for kind, namespaces in allowed.items()
        for selector in label_selectors(kind)
        if namespaces
    ]


def label_selectors(kind: Kind) -> tuple[str, ...]:
    if kind == kinds.CONTROLLER_REVISION:
        return (f"app.kubernetes.io/component={COMPONENT}",)
    return LABEL_SELECTORS if kind.api_version in SHARED_API_VERSIONS else ("",)


def event_rule(namespace: str) -> CacheRule[Metadata]:
    return CacheRule(EVENT, Metadata, {namespace: ""})
