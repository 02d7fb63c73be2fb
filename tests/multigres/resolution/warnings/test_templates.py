"""Templates are warned about when they are applied, before any cluster uses them."""

from typing import Any

import pytest

from steward.multigres.resolution.warnings.templates import template_warnings
from tests.multigres.support.typed_templates import templates

DELETE = {"whenDeleted": "Delete", "whenScaled": "Delete"}
LOST = "Delete loses all data when the"
SCALED = "Delete loses the data of every server that is scaled down"


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("shard", {"pools": {"main": {"cells": ["z1"], "replicasPerCell": 1}}}, []),
        (
            "shard",
            {"pools": {"main": {"cell": "z1", "replicas": 2}}},
            [
                "spec.pools[main].cell: deprecated; write cells: [z1]",
                "spec.pools[main].replicas: deprecated; write replicasPerCell: 2",
            ],
        ),
        (
            "shard",
            {
                "pvcDeletionPolicy": {"whenDeleted": "Delete"},
                "pools": {"main": {"pvcDeletionPolicy": DELETE}},
            },
            [
                f"spec.pvcDeletionPolicy.whenDeleted: {LOST} shard is deleted",
                f"spec.pools[main].pvcDeletionPolicy.whenScaled: {SCALED}",
            ],
        ),
        (
            "core",
            {"globalTopoServer": {"etcd": {"pvcDeletionPolicy": {"whenDeleted": "Delete"}}}},
            [f"spec.globalTopoServer.etcd.pvcDeletionPolicy.whenDeleted: {LOST} topology server is deleted"],
        ),
        (
            "core",
            {"globalTopoServer": {"etcd": {}, "pvcDeletionPolicy": {"whenScaled": "Delete"}}},
            [f"spec.globalTopoServer.pvcDeletionPolicy.whenScaled: {SCALED}"],
        ),
        ("core", {}, []),
        (
            "cell",
            {"localTopoServer": {"etcd": {"pvcDeletionPolicy": {"whenDeleted": "Delete"}}}},
            [f"spec.localTopoServer.etcd.pvcDeletionPolicy.whenDeleted: {LOST} topology server is deleted"],
        ),
        ("cell", {"multiGateway": {"replicas": 2}}, []),
    ],
)
def test_templates_are_warned_about_old_spellings_and_lost_data(
    kind: str, spec: dict[str, Any], expected: list[str]
) -> None:
    content = getattr(templates(**{kind: {"x": spec}}), kind)["x"]
    assert template_warnings(content) == expected
