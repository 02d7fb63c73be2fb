"""The objects of the sample."""

from typing import Any

import pytest

from steward.local.sample import objects


def objects_by_name(zones: tuple[str, ...]) -> dict[str, Any]:
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in objects.objects(zones)}


def test_the_cluster_has_a_cell_in_every_zone_and_manual_template_updates() -> None:
    cluster = objects_by_name(("z1", "z2", "z3"))["MultigresCluster/orders"]["spec"]
    assert cluster["cells"] == [{"zone": "z1"}, {"zone": "z2"}, {"zone": "z3"}]
    assert cluster["updatePolicy"] == {"templateChanges": "Manual"}


def test_one_of_two_templates_creates_a_database_for_a_row() -> None:
    found = objects_by_name(("a", "b"))
    templates = [item for item in found.values() if item["kind"] == "TenantTemplate"]
    assert [item["metadata"]["name"] for item in templates] == ["web", "database"]
    [manifest] = found["TenantTemplate/database"]["spec"]["manifests"]
    assert manifest["spec"]["kind"] == "MultigresCluster"
    assert manifest["spec"]["spec"]["cells"] == [{"zone": "a"}]


@pytest.mark.parametrize(
    ("zones", "cells"), [(("a",), 1), (("a", "a"), 1), (("a", "b"), 2), (tuple("abcdef"), 3)]
)
def test_the_cluster_has_at_most_three_cells(zones: tuple[str, ...], cells: int) -> None:
    assert len(objects_by_name(zones)["MultigresCluster/orders"]["spec"]["cells"]) == cells


def test_every_object_is_in_the_samples_namespace() -> None:
    assert {item["metadata"]["namespace"] for item in objects.objects(("a",))} == {objects.NAMESPACE}
