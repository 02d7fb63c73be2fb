import json

import pytest

from steward.kube.objects.patches import JsonPatch, MergePatch, Patch, StrategicPatch

GUARDED = [
    JsonPatch(
        [{"op": "test", "path": "/metadata/resourceVersion", "value": "7"}, {"op": "remove", "path": "/a"}]
    ),
    JsonPatch.at_version("7", [{"op": "remove", "path": "/a"}]),
    MergePatch({"metadata": {"resourceVersion": "7"}, "spec": {}}),
    MergePatch.metadata_at_version("7", finalizers=[]),
    StrategicPatch({"metadata": {"resourceVersion": "7"}}),
]
UNGUARDED = [
    JsonPatch([{"op": "test", "path": "/spec/a", "value": 1}]),
    JsonPatch([{"op": "add", "path": "/metadata/resourceVersion", "value": "7"}]),
    MergePatch({"metadata": None}),
    StrategicPatch({"spec": {"resourceVersion": "7"}}),
]


@pytest.mark.parametrize("patch", GUARDED, ids=repr)
def test_a_patch_that_expects_a_version_is_guarded(patch: Patch) -> None:
    assert patch.has_precondition


@pytest.mark.parametrize("patch", UNGUARDED, ids=repr)
def test_a_patch_that_expects_no_version_is_not(patch: Patch) -> None:
    assert not patch.has_precondition


def test_a_patch_is_sent_as_it_was_written() -> None:
    assert json.loads(JsonPatch([{"op": "remove", "path": "/a"}]).encode()) == [
        {"op": "remove", "path": "/a"}
    ]
    assert json.loads(MergePatch({"a": None}).encode()) == {"a": None}
