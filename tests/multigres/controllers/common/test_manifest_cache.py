"""What is wanted is built once for the same inputs."""

from typing import Any

from steward.kube.objects.kinds import Key, Ref
from steward.multigres.cache_rules import CELL, SHARD
from steward.multigres.controllers.common.manifest_cache import Drafts

REF = Ref(SHARD, Key("shop", "x"))


class Builder:
    def __init__(self) -> None:
        self.drafts = Drafts()
        self.built = 0

    def of(self, inputs: object, ref: Ref = REF) -> list[dict[str, Any]]:
        return self.drafts.of(ref, inputs, self._build)

    def _build(self) -> list[dict[str, Any]]:
        self.built += 1
        return [{"number": self.built}]


def test_equal_inputs_are_built_once() -> None:
    builder = Builder()
    assert builder.of({"replicas": 3}) is builder.of({"replicas": 3})
    assert builder.built == 1


def test_other_inputs_are_built_anew() -> None:
    builder = Builder()
    assert [builder.of(1), builder.of(2), builder.of(1)] == [[{"number": n}] for n in (1, 2, 3)]


def test_each_owner_has_its_own() -> None:
    builder = Builder()
    assert builder.of(1) != builder.of(1, Ref(CELL, REF.key))


def test_what_is_forgotten_is_built_anew() -> None:
    builder = Builder()
    builder.of(1)
    builder.drafts.forget(REF)
    assert builder.of(1) == [{"number": 2}]
