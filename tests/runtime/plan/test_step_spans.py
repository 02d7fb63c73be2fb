"""Names of the spans of writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from steward.kube.objects.kinds import CONFIG_MAP, SERVICE, Key, Kind, Ref
from steward.kube.objects.patches import MergePatch
from steward.runtime.observability import tracing
from steward.runtime.plan.step_spans import step_span
from steward.runtime.plan.steps import Apply, Delete, Emit, Hold, Patch, Requeue, Status, Step

OWNER = Ref(Kind("shop.example.com/v1", "Shop"), Key("ns", "corner"))
SETTINGS = Ref(CONFIG_MAP, Key("ns", "settings"))
MANIFEST = {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "ns", "name": "web"}}
SHOP = {
    "apiVersion": "shop.example.com/v1",
    "kind": "Shop",
    "metadata": {"namespace": "ns", "name": "corner"},
}
PARTS = {("Shop", "Service"): "Access"}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Ref]]:
    """The spans that were opened, with what they are about."""
    spans: list[tuple[str, Ref]] = []

    @contextmanager
    def span(name: str, about: Ref) -> Iterator[None]:
        spans.append((name, about))
        yield

    monkeypatch.setattr(tracing, "is_enabled", lambda: True)
    monkeypatch.setattr(tracing, "span", span)
    return spans


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Apply(MANIFEST), ("Shop.ReconcileAccess", Ref(SERVICE, Key("ns", "web")))),
        (Delete(SETTINGS, "uid", "test"), ("Shop.ReconcileConfigMaps", SETTINGS)),
        (Status(OWNER, {}), ("Shop.UpdateStatus", OWNER)),
        (Patch(OWNER, MergePatch({})), ("Shop.UpdateMetadata", OWNER)),
        (Apply(SHOP), ("Shop.Apply", OWNER)),
    ],
    ids=["a named part", "another kind", "status", "metadata of the object", "the object itself"],
)
def test_a_write_has_a_span_named_by_what_it_writes(
    opened: list[tuple[str, Ref]], step: Step, expected: tuple[str, Ref]
) -> None:
    with step_span(step, OWNER, PARTS):
        pass
    assert opened == [expected]


@pytest.mark.parametrize("step", [Emit(OWNER, "R", "m"), Hold(1, "R", "m"), Requeue(1.0)])
def test_steps_that_write_no_object_have_no_span(opened: list[Any], step: Step) -> None:
    with step_span(step, OWNER, PARTS):
        pass
    assert opened == []


def test_without_tracing_all_steps_share_one_empty_context() -> None:
    assert step_span(Status(OWNER, {}), OWNER, {}) is step_span(Apply(MANIFEST), OWNER, {})
