from typing import Any

from steward.kube.objects.patches import JsonPatch, MergePatch, StrategicPatch
from steward.tenants.objects.patches import (
    is_same,
    merge_patch,
    plain_merge_patch,
    replace_patch,
    with_what_is_there,
)
from tests.tenants.support.fleet import config_map, service


def live(**metadata: Any) -> dict[str, Any]:
    found = config_map("a", theirs="x")
    found["metadata"] |= {"resourceVersion": "7", **metadata}
    found["binaryData"] = {"b": "eA=="}
    return found


def test_merge_is_strategic_for_built_in_kinds_and_plain_for_custom_ones() -> None:
    custom = {"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "a"}}
    assert isinstance(merge_patch(config_map("a"), live()), StrategicPatch)
    patch = merge_patch(custom, live())
    assert isinstance(patch, MergePatch)
    assert patch.guarded


def test_replace_sets_all_and_takes_away_the_rest_but_what_the_cluster_keeps() -> None:
    found = live(
        annotations={"deployment.kubernetes.io/revision": "3", "theirs": "x"}, finalizers=["keep"], uid="u"
    )
    found["status"] = {"phase": "Active"}
    patch = replace_patch(config_map("a", ours="y"), found)
    assert isinstance(patch, JsonPatch)
    by_path = {each["path"]: each for each in patch.operations}
    assert patch.guarded
    assert by_path["/metadata/resourceVersion"]["value"] == "7"
    assert by_path["/data"]["value"] == {"ours": "y"}
    assert by_path["/binaryData"]["op"] == "remove"
    assert by_path["/metadata/annotations"]["value"] == {"deployment.kubernetes.io/revision": "3"}
    assert "/status" not in by_path
    assert "/metadata/finalizers" not in by_path


def test_what_the_server_refuses_is_merged_with_whole_lists() -> None:
    patch = plain_merge_patch(service("a", 81), live())
    assert isinstance(patch, MergePatch)
    assert patch.guarded


def test_what_the_server_has_written_stays_where_nothing_is_said_of_it() -> None:
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": {"resources": {"x": 1}}}
    found = {
        **claim,
        "spec": {"resources": {"x": 0, "y": 2}, "volumeName": "v"},
        "status": {"phase": "Bound"},
    }
    kept = with_what_is_there(claim, found)
    assert kept["spec"] == {"resources": {"x": 1, "y": 2}, "volumeName": "v"}
    assert "status" not in kept


def test_bookkeeping_is_no_difference() -> None:
    assert is_same(live(managedFields=[1]), live(managedFields=[2], resourceVersion="8", labels={}))
    assert not is_same(live(), live(labels={"a": "b"}))
