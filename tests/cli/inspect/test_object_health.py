"""The health of one object, as `steward status` and `steward tree` show it."""

from typing import Any

import pytest

from steward.cli.inspect.object_health import Health, object_health


def cluster(backups: str) -> dict[str, Any]:
    conditions = [
        {"type": "Ready", "status": "True", "reason": "Healthy", "message": "", "observedGeneration": 1},
        {
            "type": "BackupHealthy",
            "status": backups,
            "reason": "r",
            "message": "the newest backup is too old",
        },
    ]
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "shop", "namespace": "saas", "generation": 1},
        "status": {"observedGeneration": 1, "conditions": conditions},
    }


def test_cluster_whose_backups_are_unhealthy_is_a_problem() -> None:
    assert object_health(cluster("False")) == (Health.FAILED, "backups: the newest backup is too old")


@pytest.mark.parametrize("backups", ["True", "Unknown"])
def test_other_clusters_are_ready(backups: str) -> None:
    assert object_health(cluster(backups)) == (Health.READY, "")
