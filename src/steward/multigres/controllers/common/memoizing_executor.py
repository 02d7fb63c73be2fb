"""Spares the applies of which the last look at the same owner found that they have nothing to write.

While an owner waits for its pods it is looked at again and again, and each look wants the same of objects that are as
they were. An object in the version in which it was found to hold all that is wanted, and of which the same is wanted
now, cannot have anything to write. What was found is kept only while the owner is not ready: at rest nobody looks.
"""

from collections.abc import Callable, Mapping
from itertools import compress
from operator import not_
from typing import Any, NamedTuple

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.runtime.plan.executor import Effect, PlanExecutor, PlanResult, StepResult
from steward.runtime.plan.steps import Apply, Plan, Step


class Found(NamedTuple):
    """An object in this version holds what the manifest says."""

    version: str
    manifest: Manifest


Versions = Mapping[Ref, str]
"""Of the objects that a plan applies; "" where there is none."""


class SparingCarrier:
    def __init__(self, executor: PlanExecutor, store_of: Callable[[Kind], Store[Any] | None]) -> None:
        self._executor = executor
        self._store_of = store_of
        self._found: dict[Ref, dict[Ref, Found]] = {}

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        before = {ref: self._version(ref) for ref in map(_applied, plan) if ref is not None}
        found = self._found.get(cause, {})
        spared = [isinstance(step, Apply) and _is_idle(step, before, found) for step in plan]
        outcome = await self._executor.execute(tuple(compress(plan, map(not_, spared))), cause)
        self._remember(outcome, before, cause)
        idle = [StepResult(step, Effect.UNCHANGED) for step in compress(plan, spared)]
        return PlanResult([*idle, *outcome.carried])

    def forget(self, cause: Ref) -> None:
        self._found.pop(cause, None)

    def _remember(self, outcome: PlanResult, before: Versions, cause: Ref) -> None:
        """Only what was in one and the same version before and after: that is the version that was looked at."""
        for step, effect in outcome.carried:
            if isinstance(step, Apply) and effect is Effect.UNCHANGED:
                ref, version = step.ref, before[step.ref]
                if version and version == self._version(ref):
                    self._found.setdefault(cause, {})[ref] = Found(version, step.manifest)

    def _version(self, ref: Ref) -> str:
        store = self._store_of(ref.kind)
        seen = None if store is None else store.get(ref.key)
        return "" if seen is None else str(seen.metadata.resource_version)


def _applied(step: Step) -> Ref | None:
    return step.ref if isinstance(step, Apply) else None


def _is_idle(step: Apply, versions: Versions, found: Mapping[Ref, Found]) -> bool:
    if not found:
        return False
    ref = step.ref
    known = found.get(ref)
    return known is not None and known.version == versions[ref] and known.manifest == step.manifest
