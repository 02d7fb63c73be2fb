from typing import Any

from steward.kube.patches import JsonPatch, MergePatch, StrategicPatch
from steward.tenants.merging import is_same, merge_patch, replace_patch
from tests.tenants.fleet import config_map


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
    assert by_path["/metadata/resourceVersion"] == {
        "op": "test",
        "path": "/metadata/resourceVersion",
        "value": "7",
    }
    assert by_path["/data"]["value"] == {"ours": "y"}
    assert by_path["/binaryData"]["op"] == "remove"
    assert by_path["/metadata/annotations"]["value"] == {"deployment.kubernetes.io/revision": "3"}
    assert "/status" not in by_path
    assert "/metadata/finalizers" not in by_path


def test_bookkeeping_is_no_difference() -> None:
    assert is_same(live(managedFields=[1]), live(managedFields=[2], resourceVersion="8", labels={}))
    assert not is_same(live(), live(labels={"a": "b"}))
