"""The patch that a user's apply of a file sends."""

import json
from typing import Any

import pytest

from steward.cli.preview.user_apply import KUBECTL, user_apply_step
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.patches import MergePatch, StrategicPatch
from steward.runtime.plan.dry_run import LAST_APPLIED
from steward.runtime.plan.steps import Apply, Patch

CUSTOM = {"apiVersion": "operator.kubernetes-tenants.org/v1", "kind": "TenantTemplate"}
BUILT_IN = {"apiVersion": "apps/v1", "kind": "Deployment"}


def manifest(kind: dict[str, str], spec: dict[str, Any]) -> Manifest:
    return {**kind, "metadata": {"name": "web", "namespace": "saas"}, "spec": spec}


def live(
    kind: dict[str, str], spec: dict[str, Any], applied: dict[str, Any] | None, *entries: Manifest
) -> Manifest:
    found = manifest(kind, spec)
    if applied is not None:
        found["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(manifest(kind, applied))}
    found["metadata"]["managedFields"] = list(entries)
    return found


def entry(manager: str, operation: str, minute: int, **more: str) -> Manifest:
    return {"manager": manager, "operation": operation, "time": f"2031-01-01T00:{minute:02}:00Z", **more}


def changes(kind: dict[str, str], now: Any, applied: Any, then: dict[str, Any]) -> Any:
    step = user_apply_step(manifest(kind, then), live(kind, now, applied))
    assert isinstance(step, Patch)
    assert isinstance(step.patch, StrategicPatch if kind is BUILT_IN else MergePatch)
    return step.patch.changes["spec"]


def test_a_plain_apply_removes_the_fields_that_the_file_no_longer_has() -> None:
    now = {"a": 1, "deployments": [1], "ingresses": [2], "map": {"x": 1, "y": 2}}
    assert changes(CUSTOM, now, now, {"deployments": [3], "map": {"x": 1}}) == {
        "a": None,
        "ingresses": None,
        "deployments": [3],
        "map": {"y": None, "x": 1},
    }


def test_a_plain_apply_keeps_the_fields_of_others() -> None:
    now = {"a": 1, "theirs": 2, "map": {"x": 1, "theirs": 2}}
    assert changes(CUSTOM, now, {"a": 1, "map": {"x": 1}}, {"a": 2, "map": {"x": 2}}) == {
        "a": 2,
        "map": {"x": 2},
    }


def test_a_plain_apply_of_an_object_that_was_never_applied_removes_nothing() -> None:
    assert changes(CUSTOM, {"a": 1, "b": 2}, None, {"a": 3}) == {"a": 3}


def test_a_plain_apply_of_a_file_without_annotations_keeps_those_of_others() -> None:
    found = live(CUSTOM, {}, {})
    applied = {**manifest(CUSTOM, {}), "metadata": {"annotations": {"mine": "1"}}}
    found["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(applied), "mine": "1", "theirs": "2"}
    step = user_apply_step(manifest(CUSTOM, {}), found)
    assert isinstance(step, Patch)
    assert isinstance(step.patch, MergePatch)
    assert step.patch.changes["metadata"]["annotations"] == {"mine": None}


def test_items_of_built_in_lists_are_removed_by_their_merge_key() -> None:
    web = {"name": "web", "image": "web:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    helper, foreign = {"name": "helper", "image": "h:1"}, {"name": "injected", "image": "i:1"}
    now = {"containers": [web, helper, foreign]}
    then = {"containers": [{"name": "web", "env": [{"name": "A", "value": "3"}]}]}
    assert changes(BUILT_IN, now, {"containers": [web, helper]}, then) == {
        "containers": [
            {
                "image": None,
                "name": "web",
                "env": [{"name": "A", "value": "3"}, {"$patch": "delete", "name": "B"}],
            },
            {"$patch": "delete", "name": "helper"},
        ]
    }


APPLIED = entry("kubectl", "Apply", 1)
PLAIN = entry("kubectl-client-side-apply", "Update", 2)


@pytest.mark.parametrize(
    ("entries", "manager"),
    [
        ([APPLIED], "kubectl"),
        ([entry("kustomize-controller", "Apply", 1)], "kustomize-controller"),
        ([APPLIED, entry("tenant-operator", "Apply", 3)], "kubectl"),
        ([APPLIED, PLAIN], None),
        ([entry("kubectl", "Apply", 3), PLAIN], "kubectl"),
        ([PLAIN], None),
        ([entry("tenant-operator", "Apply", 3)], None),
        ([entry("argocd-controller", "Apply", 3, subresource="status")], None),
    ],
)
def test_the_last_apply_of_the_user_decides_how_the_file_is_applied(
    entries: list[Manifest], manager: str | None
) -> None:
    step = user_apply_step(manifest(CUSTOM, {"a": 1}), live(CUSTOM, {"a": 1}, {"a": 1}, *entries))
    assert (step.manager if isinstance(step, Apply) else None) == manager
    assert not isinstance(step, Apply) or not step.force


def test_a_new_object_is_applied_on_the_server() -> None:
    step = user_apply_step(manifest(CUSTOM, {"a": 1}), None)
    assert step == Apply(manifest(CUSTOM, {"a": 1}), force=False, manager=KUBECTL)
