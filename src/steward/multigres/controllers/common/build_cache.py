"""Caches that keep repeated reconciles of an unready owner cheap: its built manifests, and applies that change nothing.

While an owner waits for its pods it is reconciled again and again with the same desired objects. Both caches are
dropped as soon as the owner is ready or deleted: at rest there are no repeated reconciles. Without them a cluster of
201 shards costs a quarter more processor time (54 instead of 43 ms a shard), and an edit of one of its shards a third
more (0.19 instead of 0.14 s); ten small clusters cost 3 % more.
"""

from collections.abc import Callable, Mapping
from itertools import compress
from operator import not_
from typing import Any, NamedTuple

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.multigres.controllers.common.pause import Executor
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Apply, Plan, Step


class BuiltManifests(NamedTuple):
    inputs: object
    manifests: list[Manifest]


class ManifestCache:
    """The manifests below an owner, built once for equal inputs. Callers copy a manifest before they change it."""

    def __init__(self) -> None:
        self._built: dict[Ref, BuiltManifests] = {}

    def get_or_build(self, owner: Ref, inputs: object, build: Callable[[], list[Manifest]]) -> list[Manifest]:
        built = self._built.get(owner)
        if built is None or built.inputs != inputs:
            built = self._built[owner] = BuiltManifests(inputs, build())
        return built.manifests

    def forget(self, owner: Ref) -> None:
        self._built.pop(owner, None)


class AppliedVersion(NamedTuple):
    """The object in this version already holds everything that the manifest says."""

    version: str
    manifest: Manifest


Versions = Mapping[Ref, str]
"""Resource versions of the objects that a plan applies; "" for one that is not cached."""


class MemoizingExecutor:
    """Skips an apply if the same manifest changed nothing when it was applied to the same version of the object."""

    def __init__(self, executor: Executor, store_of: Callable[[Kind], Store[Any] | None]) -> None:
        self._executor = executor
        self._store_of = store_of
        self._unchanged: dict[Ref, dict[Ref, AppliedVersion]] = {}

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        versions = {ref: self._version(ref) for ref in map(_applied_ref, plan) if ref is not None}
        unchanged = self._unchanged.get(cause, {})
        skipped = [isinstance(step, Apply) and _is_noop(step, versions, unchanged) for step in plan]
        outcome = await self._executor.execute(tuple(compress(plan, map(not_, skipped))), cause)
        self._remember(outcome, versions, cause)
        noops = [StepResult(step, StepEffect.UNCHANGED) for step in compress(plan, skipped)]
        return PlanResult([*noops, *outcome.steps])

    def forget(self, cause: Ref) -> None:
        self._unchanged.pop(cause, None)

    def _remember(self, outcome: PlanResult, versions: Versions, cause: Ref) -> None:
        """Only if the version was the same before and after: then it is the version that the apply compared with."""
        for step, effect, _ in outcome.steps:
            if isinstance(step, Apply) and effect is StepEffect.UNCHANGED:
                ref, version = step.ref, versions[step.ref]
                if version and version == self._version(ref):
                    self._unchanged.setdefault(cause, {})[ref] = AppliedVersion(version, step.manifest)

    def _version(self, ref: Ref) -> str:
        store = self._store_of(ref.kind)
        live = None if store is None else store.get(ref.key)
        return "" if live is None else str(live.metadata.resource_version)


def _applied_ref(step: Step) -> Ref | None:
    return step.ref if isinstance(step, Apply) else None


def _is_noop(step: Apply, versions: Versions, unchanged: Mapping[Ref, AppliedVersion]) -> bool:
    if not unchanged:
        return False
    ref = step.ref
    last = unchanged.get(ref)
    return last is not None and last.version == versions[ref] and last.manifest == step.manifest
