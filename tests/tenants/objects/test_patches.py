from typing import Any

from steward.kube.objects.patches import JsonPatch, MergePatch, StrategicPatch
from steward.tenants.objects.patches import (
    MOST_CHANGED_PATHS,
    changed_paths,
    is_unchanged,
    json_merge_patch,
    merge_patch,
    merged_with_live,
    replace_patch,
)
from tests.tenants.support.fleet import config_map, service


def live(**metadata: Any) -> dict[str, Any]:
    found = config_map("a", theirs="x")
    found["metadata"] |= {"resourceVersion": "7", **metadata}
    found["binaryData"] = {"b": "eA=="}
    return found


def test_merge_is_strategic_for_built_in_kinds_and_json_for_custom_ones() -> None:
    custom = {"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "a"}}
    assert isinstance(merge_patch(config_map("a"), live()), StrategicPatch)
    patch = merge_patch(custom, live())
    assert isinstance(patch, MergePatch)
    assert patch.has_precondition


def test_replace_sets_all_fields_and_removes_the_rest_except_cluster_metadata() -> None:
    found = live(
        annotations={"deployment.kubernetes.io/revision": "3", "theirs": "x"}, finalizers=["keep"], uid="u"
    )
    found["status"] = {"phase": "Active"}
    patch = replace_patch(config_map("a", ours="y"), found)
    assert isinstance(patch, JsonPatch)
    by_path = {each["path"]: each for each in patch.operations}
    assert patch.has_precondition
    assert by_path["/metadata/resourceVersion"]["value"] == "7"
    assert by_path["/data"]["value"] == {"ours": "y"}
    assert by_path["/binaryData"]["op"] == "remove"
    assert by_path["/metadata/annotations"]["value"] == {"deployment.kubernetes.io/revision": "3"}
    assert "/status" not in by_path
    assert "/metadata/finalizers" not in by_path


def test_the_second_merge_patch_sets_complete_lists() -> None:
    patch = json_merge_patch(service("a", 81), live())
    assert isinstance(patch, MergePatch)
    assert patch.has_precondition


def test_live_fields_that_the_manifest_does_not_mention_are_kept() -> None:
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": {"resources": {"x": 1}}}
    found = {
        **claim,
        "spec": {"resources": {"x": 0, "y": 2}, "volumeName": "v"},
        "status": {"phase": "Bound"},
    }
    kept = merged_with_live(claim, found)
    assert kept["spec"] == {"resources": {"x": 1, "y": 2}, "volumeName": "v"}
    assert "status" not in kept


def test_bookkeeping_fields_are_not_compared() -> None:
    assert is_unchanged(live(managedFields=[1]), live(managedFields=[2], resourceVersion="8", labels={}))
    assert not is_unchanged(live(), live(labels={"a": "b"}))


def test_paths_are_named_and_values_are_not() -> None:
    before = {"data": {"a": "1", "password": "old"}, "metadata": {"resourceVersion": "1"}, "list": [{"x": 1}]}
    after = {"data": {"a": "1", "password": "new"}, "metadata": {"resourceVersion": "2"}, "list": [{"x": 2}]}
    assert changed_paths(before, after) == (".data.password", ".list[0].x")


def test_a_new_field_is_named_without_its_children() -> None:
    assert changed_paths(None, {"kind": "ConfigMap", "status": {}}) == (".kind",)


def test_the_summary_is_bounded() -> None:
    assert len(changed_paths({}, {f"f{number}": number for number in range(100)})) == MOST_CHANGED_PATHS
