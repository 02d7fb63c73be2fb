from typing import Any

import pytest

from steward.tenants.objects.jsonpath import FieldPath, JsonPathError, matching_paths, parse_path

POD = {
    "spec": {
        "replicas": 3,
        "containers": [{"name": "app", "image": "a"}, {"name": "log", "image": "b"}],
        "labels": {"a.b/c": "x"},
    }
}


@pytest.mark.parametrize(
    ("path", "paths"),
    [
        ("$.spec.replicas", [("spec", "replicas")]),
        ("$['spec'][\"replicas\"]", [("spec", "replicas")]),
        ("$.spec.labels['a.b/c']", [("spec", "labels", "a.b/c")]),
        ("$.spec.containers[1].image", [("spec", "containers", 1, "image")]),
        ("$.spec.containers[-1].image", [("spec", "containers", 1, "image")]),
        (
            "$.spec.containers[*].image",
            [("spec", "containers", 0, "image"), ("spec", "containers", 1, "image")],
        ),
        ("$.spec.containers[?(@.name=='log')].image", [("spec", "containers", 1, "image")]),
        ('$.spec.containers[?@.name == "app"]', [("spec", "containers", 0)]),
        ("$.spec.labels.*", [("spec", "labels", "a.b/c")]),
        ("$.spec.nothing.at.all", []),
        ("$.spec.containers[9]", []),
        ("$.spec.replicas.deeper", []),
        ("$.spec.containers.name", []),
    ],
)
def test_a_path_matches_each_of_its_fields(path: str, paths: list[FieldPath]) -> None:
    assert matching_paths(POD, parse_path(path)) == paths


@pytest.mark.parametrize(
    "path", ["", "$", "spec.replicas", "$.", "$..name", "$.a[", "$.a[x]", "$.a[0:2]", "$a", "$.a b"]
)
def test_an_invalid_path_is_an_error_with_an_example(path: Any) -> None:
    with pytest.raises(JsonPathError, match=r"\$\.spec\.replicas|write \.name"):
        parse_path(path)
