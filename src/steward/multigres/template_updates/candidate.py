"""A cluster as it would be with certain contents of its templates. Pure."""

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.api.updates import UpdatePolicy
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.maintenance_window import is_open, next_opening, window_problem
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, Problem, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey

AUTO, MANUAL, WINDOW = "Auto", "Manual", "Window"
LEAVING = "is being deleted; name another"

SPECS: Mapping[str, type[Any]] = {
    "CoreTemplate": CoreTemplateSpec,
    "CellTemplate": CellTemplateSpec,
    "ShardTemplate": ShardTemplateSpec,
}
Contents = Mapping[TemplateKey, Content]


class Situation(NamedTuple):
    """All that the decision depends on. `reported` are the generations of the last status, None before the first."""

    identity: Identity
    spec: MultigresClusterSpec
    live: Contents
    leaving: frozenset[TemplateKey]
    revisions: tuple[Revision, ...]
    reported: Mapping[str, int] | None
    annotations: Mapping[str, str]
    now: datetime.datetime

    @property
    def policy(self) -> UpdatePolicy:
        return given(self.spec.update_policy, UpdatePolicy())

    @property
    def mode(self) -> str:
        return given(self.policy.template_changes, AUTO)

    @property
    def window_is_open(self) -> bool:
        window = self.policy.window
        return window is not UNSET and not window_problem(window) and is_open(window, self.now)

    @property
    def next_window(self) -> datetime.datetime | None:
        """When the next one opens; None without windows, or with one that cannot be read."""
        window = self.policy.window
        if self.mode != WINDOW or window is UNSET or window_problem(window):
            return None
        return next_opening(window, self.now)


class Attempt(NamedTuple):
    """The cluster as it would be with certain contents, and what is wrong with it."""

    resolved: ResolvedCluster
    problems: list[Problem]


def attempt(at: Situation, contents: Contents) -> Attempt:
    """The cluster on these contents. One that cannot be read is a problem of whoever uses it, and of nobody else."""
    typed: dict[str, dict[str, Any]] = {kind: {} for kind in SPECS}
    unusable = {(key.kind, key.name): LEAVING for key in at.leaving if key not in contents}
    for key, content in contents.items():
        try:
            typed[key.kind][key.name] = msgspec.convert(content.spec, SPECS[key.kind])
        except msgspec.ValidationError as error:
            unusable[key.kind, key.name] = f"cannot be read: {error}"
    templates = Templates(typed["CoreTemplate"], typed["CellTemplate"], typed["ShardTemplate"], unusable)
    resolved = resolve(at.identity, at.spec, templates)
    return Attempt(resolved, validate(at.spec, resolved))


def used_templates(resolved: ResolvedCluster) -> list[TemplateKey]:
    return [TemplateKey(kind, name) for kind, names in resolved.templates.items() for name in names]


def told(problems: list[Problem]) -> str:
    return "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
