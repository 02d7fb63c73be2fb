import json

import msgspec
import pytest
import yaml

from steward.kube.objects.patches import JsonPatch, MergePatch, Patch, StrategicPatch, escape_for_yaml

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


def test_an_applied_text_is_the_same_for_a_parser_of_yaml() -> None:
    """Every character of the first planes, with white space around it, as API servers parse the body of an apply."""
    characters = (chr(code) for code in (*range(0xD800), *range(0xE000, 0x10000), 0x1F4A5))
    texts = {"text": " ".join(characters)}
    body = escape_for_yaml(msgspec.json.encode(texts))
    assert json.loads(body) == texts
    assert yaml.load(body.decode(), yaml.BaseLoader) == texts


def test_what_yaml_reads_like_json_is_not_escaped() -> None:
    body = msgspec.json.encode({"text": "plain ü 漢 💥 \\ \u00a0"})
    assert escape_for_yaml(body) == body
