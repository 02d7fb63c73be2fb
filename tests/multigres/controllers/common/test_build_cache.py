"""Manifests are built once for equal inputs; an apply is skipped if it changed nothing in the same version."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.multigres.cache_rules import CELL, SHARD
from steward.multigres.controllers.common.build_cache import ManifestCache, MemoizingExecutor
from steward.runtime.plan.executor import PlanResult, StepEffect, StepResult
from steward.runtime.plan.steps import Apply, Plan, Requeue

OWNER = Ref(SHARD, Key("shop", "x"))
OTHER = Ref(SHARD, Key("shop", "y"))


def config(value: str = "1") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "shop"},
        "data": {"a": value},
    }


class Server:
    """A cached object with its version, and the executor behind the memoizing one."""

    def __init__(self) -> None:
        self.version = "1"
        self.effect = StepEffect.UNCHANGED
        self.executed: list[Plan] = []
        self.during_execution: Callable[[], None] = lambda: None
        self.executor = MemoizingExecutor(self, {CONFIG_MAP: self}.get)  # type: ignore[arg-type]

    def get(self, key: Key) -> Any:
        return SimpleNamespace(metadata=SimpleNamespace(resource_version=self.version))

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        self.executed.append(plan)
        self.during_execution()
        return PlanResult([StepResult(step, self.effect) for step in plan])

    async def applies(self, manifest: dict[str, Any], cause: Ref = OWNER) -> bool:
        """Whether the apply reaches the executor."""
        before = len([step for plan in self.executed for step in plan])
        outcome = await self.executor.execute((Apply(manifest),), cause)
        assert [result.step for result in outcome.steps] == [Apply(manifest)]
        return len([step for plan in self.executed for step in plan]) > before


@pytest.fixture
def server() -> Server:
    return Server()


async def test_the_same_manifest_for_the_same_version_is_applied_once(server: Server) -> None:
    assert [await server.applies(config()) for _ in range(3)] == [True, False, False]


async def test_a_changed_object_is_applied_again(server: Server) -> None:
    await server.applies(config())
    server.version = "2"
    assert [await server.applies(config()) for _ in range(2)] == [True, False]


async def test_another_manifest_is_applied(server: Server) -> None:
    await server.applies(config())
    assert await server.applies(config("2"))


@pytest.mark.parametrize("effect", [StepEffect.CREATED, StepEffect.CHANGED])
async def test_an_apply_that_wrote_is_repeated(server: Server, effect: StepEffect) -> None:
    server.effect = effect
    assert [await server.applies(config()) for _ in range(2)] == [True, True]


async def test_a_change_during_the_apply_is_not_taken_for_the_compared_version(server: Server) -> None:
    server.during_execution = lambda: setattr(server, "version", "2")
    assert [await server.applies(config()) for _ in range(3)] == [True, True, False]


async def test_each_owner_has_its_own_memory(server: Server) -> None:
    await server.applies(config())
    assert await server.applies(config(), OTHER)


async def test_a_forgotten_owner_applies_again(server: Server) -> None:
    await server.applies(config())
    server.executor.forget(OWNER)
    assert await server.applies(config())


async def test_all_other_steps_are_executed_in_order(server: Server) -> None:
    await server.applies(config())
    plan = (Requeue(1.0), Apply(config()), Requeue(2.0))
    outcome = await server.executor.execute(plan, OWNER)
    assert server.executed[-1] == (Requeue(1.0), Requeue(2.0))
    assert StepResult(Apply(config()), StepEffect.UNCHANGED) in outcome.steps


class Builder:
    def __init__(self) -> None:
        self.cache = ManifestCache()
        self.builds = 0

    def get(self, inputs: object, ref: Ref = OWNER) -> list[dict[str, Any]]:
        return self.cache.get_or_build(ref, inputs, self._build)

    def _build(self) -> list[dict[str, Any]]:
        self.builds += 1
        return [{"number": self.builds}]


def test_equal_inputs_are_built_once() -> None:
    builder = Builder()
    assert builder.get({"replicas": 3}) is builder.get({"replicas": 3})
    assert builder.builds == 1


def test_other_inputs_are_built_again() -> None:
    builder = Builder()
    assert [builder.get(1), builder.get(2), builder.get(1)] == [[{"number": n}] for n in (1, 2, 3)]


def test_each_owner_has_its_own_manifests() -> None:
    builder = Builder()
    assert builder.get(1) != builder.get(1, Ref(CELL, OWNER.key))


def test_a_forgotten_owner_is_built_again() -> None:
    builder = Builder()
    builder.get(1)
    builder.cache.forget(OWNER)
    assert builder.get(1) == [{"number": 2}]
