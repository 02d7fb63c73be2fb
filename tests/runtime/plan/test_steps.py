from collections.abc import Callable

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.steps import (
    Apply,
    Create,
    Delete,
    Emit,
    Hold,
    Patch,
    PlanError,
    Requeue,
    Status,
    Step,
    concurrent_groups,
    status_manifest,
    step_target,
)

REF = Ref(CONFIG_MAP, Key("shop", "a"))
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}}
APPLY, CREATE = Apply(MANIFEST), Create(MANIFEST)
PATCH, STATUS, REQUEUE = Patch(REF, MergePatch({})), Status(REF, {}), Requeue(1.0)
DELETE, HOLD, EMIT = Delete(REF, "uid", "test"), Hold(1, "Empty", "held"), Emit(REF, "Ready", "it is")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Delete(REF, "", "no reason"), "without a uid"),
        (lambda: Delete(REF, "uid", ""), "without a reason"),
        (lambda: Hold(0, "Empty", "nothing"), "a hold has at least one object"),
        (lambda: Requeue(-1.0), "the delay must not be negative"),
    ],
)
def test_an_unsafe_step_cannot_be_constructed(wrong: Callable[[], Step], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("plan", "cut"),
    [
        ((), []),
        ((APPLY, CREATE, APPLY), [(APPLY, CREATE, APPLY)]),
        ((APPLY, STATUS, APPLY), [(APPLY,), (STATUS,), (APPLY,)]),
        ((PATCH, PATCH), [(PATCH,), (PATCH,)]),
        ((APPLY, DELETE, DELETE, CREATE), [(APPLY,), (DELETE,), (DELETE,), (CREATE,)]),
    ],
)
def test_only_adjacent_applies_and_creates_are_concurrent(
    plan: tuple[Step, ...], cut: list[tuple[Step, ...]]
) -> None:
    assert concurrent_groups(plan) == cut


@pytest.mark.parametrize("step", [APPLY, CREATE, PATCH, STATUS, DELETE, EMIT])
def test_a_step_with_an_object_names_it(step: Step) -> None:
    assert step_target(step) == REF


@pytest.mark.parametrize("step", [HOLD, REQUEUE])
def test_a_hold_and_a_requeue_have_no_object(step: Step) -> None:
    assert step_target(step) is None


def test_a_status_is_sent_with_the_name_and_nothing_else() -> None:
    sent = status_manifest(Status(REF, {"ready": True}))
    assert sent == MANIFEST | {"status": {"ready": True}}


def test_a_status_is_sent_without_empty_maps() -> None:
    """An apply that drops the last key of a map sets the map to null, and the API server rejects the null."""
    status = {"ready": False, "cells": {"a": {}, "b": {"ready": False}}, "generations": {}, "names": []}
    sent = status_manifest(Status(REF, status))
    assert sent["status"] == {"ready": False, "cells": {"b": {"ready": False}}, "names": []}
