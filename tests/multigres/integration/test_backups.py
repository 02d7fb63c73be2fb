"""MultigresBackups on a real API server, made by an operator with its shipped rights through the fake data plane."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from tests.multigres.support.backed_up_cluster import SHARD, BackedUpCluster
from tests.multigres.support.more_short_periods import QUICK_BACKUPS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl


@pytest.fixture(scope="module")
def shop(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BackedUpCluster]:
    """One cluster for all tests of this file."""
    name = f"backups-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, name, log, periods=QUICK_BACKUPS):
        found = BackedUpCluster(kubectl, name)
        found.apply()
        found.clusters.wait_ready("shop")
        yield found
    namespaces.release_namespace(kubectl.server, name)


def test_backup_by_hand_is_made_and_listed(shop: BackedUpCluster, kubectl: Kubectl) -> None:
    shop.create("by-hand", type="incremental")
    status = shop.wait_phase("by-hand", "Completed")
    assert status["type"] == "incremental"
    kubectl("wait", "mgb", "by-hand", "-n", shop.namespace, "--for=condition=Ready", "--timeout=5s")
    assert status["backupId"] in kubectl("get", "mgb", "-n", shop.namespace)


def test_backup_by_the_command_line_waits_until_it_is_complete(
    shop: BackedUpCluster, control_plane: ControlPlane
) -> None:
    options = ["-n", shop.namespace, "--kubeconfig", str(control_plane.kubeconfig)]
    made = CliRunner().invoke(steward, ["backup", "shop", "--type", "differential", *options])
    assert (made.exit_code, "is in the repository" in made.output) == (0, True), made.output
    listed = CliRunner().invoke(steward, ["backups", "shop", *options])
    assert "differential" in listed.output


def test_failed_backup_names_the_cause(shop: BackedUpCluster) -> None:
    shop.inject("repository-full")
    shop.create("full")
    status = shop.wait_phase("full", "Failed")
    shop.inject("")
    assert "No space left on device" in status["error"]


def test_backup_of_an_unknown_cluster_waits_and_says_so(shop: BackedUpCluster) -> None:
    shop.create("unknown", cluster="other")
    assert "MultigresCluster other does not exist" in shop.wait_phase("unknown", "Pending")["message"]


def test_spec_of_a_backup_cannot_be_changed(shop: BackedUpCluster, kubectl: Kubectl) -> None:
    shop.create("fixed", cluster="none")
    patch = '{"spec":{"type":"incremental"}}'
    _, error = kubectl.run("patch", "mgb", "fixed", "-n", shop.namespace, "--type=merge", "-p", patch)
    assert "create another MultigresBackup instead" in error


def test_schedule_makes_backups_and_retention_deletes_what_the_repository_no_longer_has(
    shop: BackedUpCluster,
) -> None:
    """The schedule has a time every minute; the first of its full backups expires all earlier ones."""
    schedule = {"full": "* * * * *", "timeZone": "Europe/Zurich"}
    backup = {"type": "filesystem", "schedule": schedule, "retention": {"fullCount": 1}, "staleAfter": "1h"}
    shop.apply(backup=backup)

    def scheduled() -> Any:
        found = [each for each in shop.clusters.all("mgb") if each["spec"].get("type") == "full"]
        return next((each for each in found if each.get("status", {}).get("phase") == "Completed"), None)

    made = eventually(scheduled, "a scheduled backup", explain=lambda: str(shop.clusters.all("mgb")))
    assert made["metadata"]["labels"]["app.kubernetes.io/component"] == "scheduled-backup"
    eventually(lambda: shop.clusters.get("mgb", "by-hand") is None, "the expired backup's object to go")
    shop.apply()

    def healthy() -> Any:
        status = shop.clusters.get("shard", SHARD)["status"]
        found = {each["type"]: each["status"] for each in status["conditions"]}
        return status["backup"] if found.get("BackupHealthy") == "True" else None

    status = eventually(healthy, "BackupHealthy", explain=lambda: str(shop.clusters.get("shard", SHARD)))
    assert status["lastBackup"].endswith("F")
