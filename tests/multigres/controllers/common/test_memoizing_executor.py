"""An apply goes out unless the object is in the very version in which the same was found to have nothing to write."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.multigres.cache_rules import SHARD
from steward.multigres.controllers.common.memoizing_executor import SparingCarrier
from steward.runtime.plan.executor import Effect, PlanResult, StepResult
from steward.runtime.plan.steps import Apply, Plan, Requeue

CAUSE = Ref(SHARD, Key("shop", "x"))
OTHER = Ref(SHARD, Key("shop", "y"))


def config(value: str = "1") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "shop"},
        "data": {"a": value},
    }


class Server:
    """The object in its version, and the carrier that finds what it is told to find."""

    def __init__(self) -> None:
        self.version = "1"
        self.effect = Effect.UNCHANGED
        self.carried: list[Plan] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.executor = SparingCarrier(self, {CONFIG_MAP: self}.get)  # type: ignore[arg-type]

    def get(self, key: Key) -> Any:
        return SimpleNamespace(metadata=SimpleNamespace(resource_version=self.version))

    async def execute(self, plan: Plan, cause: Ref) -> PlanResult:
        self.carried.append(plan)
        self.meanwhile()
        return PlanResult([StepResult(step, self.effect) for step in plan])

    async def applies(self, manifest: dict[str, Any], cause: Ref = CAUSE) -> bool:
        """Whether the apply is carried out."""
        before = len([step for plan in self.carried for step in plan])
        outcome = await self.executor.execute((Apply(manifest),), cause)
        assert [carried.step for carried in outcome.carried] == [Apply(manifest)]
        return len([step for plan in self.carried for step in plan]) > before


@pytest.fixture
def server() -> Server:
    return Server()


async def test_the_same_in_the_same_version_is_looked_at_once(server: Server) -> None:
    assert [await server.applies(config()) for _ in range(3)] == [True, False, False]


async def test_an_object_that_changed_is_looked_at_again(server: Server) -> None:
    await server.applies(config())
    server.version = "2"
    assert [await server.applies(config()) for _ in range(2)] == [True, False]


async def test_another_wish_is_carried_out(server: Server) -> None:
    await server.applies(config())
    assert await server.applies(config("2"))


@pytest.mark.parametrize("effect", [Effect.CREATED, Effect.CHANGED])
async def test_what_was_written_is_looked_at_once_more(server: Server, effect: Effect) -> None:
    server.effect = effect
    assert [await server.applies(config()) for _ in range(2)] == [True, True]


async def test_a_change_while_we_look_is_not_taken_for_what_we_looked_at(server: Server) -> None:
    server.meanwhile = lambda: setattr(server, "version", "2")
    assert [await server.applies(config()) for _ in range(3)] == [True, True, False]


async def test_what_one_owner_found_says_nothing_to_another(server: Server) -> None:
    await server.applies(config())
    assert await server.applies(config(), OTHER)


async def test_who_is_forgotten_looks_again(server: Server) -> None:
    await server.applies(config())
    server.executor.forget(CAUSE)
    assert await server.applies(config())


async def test_all_other_steps_go_out_in_their_order(server: Server) -> None:
    await server.applies(config())
    plan = (Requeue(1.0), Apply(config()), Requeue(2.0))
    outcome = await server.executor.execute(plan, CAUSE)
    assert server.carried[-1] == (Requeue(1.0), Requeue(2.0))
    assert StepResult(Apply(config()), Effect.UNCHANGED) in outcome.carried
