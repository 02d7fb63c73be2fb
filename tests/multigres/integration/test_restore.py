"""The runbooks of docs/backups.md, step by step, on a real API server with the fake data plane.

The fake data plane keeps of all data only its lineage: the name of the pod whose data all servers of a shard were made
from. A restored shard has that of the lost one, a shard that began without data has another.
"""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.clusters import Clusters, conditions, small_cluster
from tests.multigres.support.more_short_periods import EARLY_STATUS, QUICK_BACKUPS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.data_planes import forwards_file
from tests.support.kubectl import Kubectl

NO_WEB = {"multiadminWeb": {"spec": {"replicas": 0}}}
PERIODS = {**EARLY_STATUS, **QUICK_BACKUPS}


class RestoreSite:
    """Two namespaces of one operator: where clusters are lost, and where they are restored."""

    def __init__(self, plane: ControlPlane, kubectl: Kubectl, name: str) -> None:
        self.plane, self.kubectl = plane, kubectl
        self.old, self.new = f"{name}-old", f"{name}-new"

    def manifest(self, namespace: str, cluster: str, **spec: Any) -> dict[str, Any]:
        return small_cluster(namespace, cluster, **NO_WEB, **spec)

    def clusters(self, namespace: str) -> Clusters:
        return Clusters(self.kubectl, namespace)

    def lineage(self, namespace: str, cluster: str) -> str:
        """Which data the shard has, as the files of the fake data plane say."""
        file = forwards_file(self.plane).parent / "shards" / f"{namespace}.{cluster}.json"
        found = [each["lineage"] for each in json.loads(file.read_text())] if file.exists() else []
        return str(found[0]) if found else ""

    def restored(self, namespace: str, cluster: str) -> dict[str, Any]:
        return dict(conditions(self.kubectl, namespace, cluster).get("Restored", {}))

    def wait_restored(self, namespace: str, cluster: str, reason: str) -> dict[str, Any]:
        def reached() -> Any:
            found = self.restored(namespace, cluster)
            return found if found.get("reason") == reason else None

        found = eventually(reached, reason, explain=lambda: str(self.restored(namespace, cluster)))
        return dict(found)

    def steward(self, *arguments: str) -> Result:
        options = ["--kubeconfig", str(self.plane.kubeconfig)]
        return CliRunner().invoke(steward, [*arguments, *options])

    def lose(self, namespace: str, cluster: str, *components: str) -> None:
        """Deletes a cluster, and the volumes of these components with it."""
        self.kubectl("delete", "mgc", cluster, "-n", namespace, "--wait=true", "--timeout=90s")
        chosen = f"app.kubernetes.io/component in ({','.join(components)})"
        selector = f"multigres.com/cluster={cluster},{chosen}"
        self.kubectl("delete", "pvc", "-n", namespace, "-l", selector, "--timeout=90s")

    def copy_secret(self, name: str) -> None:
        """As a user who has kept the password somewhere else."""
        data = self.kubectl.json("get", "secret", name, "-n", self.old)["data"]
        metadata = {"name": name, "namespace": self.new}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
        self.kubectl("create", "-f", "-", document=secret)


@pytest.fixture(scope="module")
def site(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RestoreSite]:
    found = RestoreSite(control_plane, kubectl, f"restore-{secrets.token_hex(4)}")
    for namespace in (found.old, found.new):
        kubectl("create", "namespace", namespace)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, f"{found.old},{found.new}", log, periods=PERIODS):
        yield found
    for namespace in (found.old, found.new):
        namespaces.release_namespace(kubectl.server, namespace)


@pytest.fixture(scope="module")
def files(site: RestoreSite) -> dict[str, Any]:
    """The manifest of a cluster of three servers that is ready, with a repository on a volume."""
    manifest = site.manifest(site.old, "files", pool={"replicasPerCell": 3})
    site.clusters(site.old).apply(manifest)
    site.clusters(site.old).wait_ready("files")
    return manifest


def test_lost_server_comes_back_from_the_repository(site: RestoreSite, files: dict[str, Any]) -> None:
    clusters = site.clusters(site.old)
    shard = names.shard(ShardPath("files", "postgres", "default", "0-inf"))
    lineage, status = site.lineage(site.old, "files"), clusters.get("shard", shard)["status"]
    [lost, *_] = [each["pod"] for each in status["servers"] if each["pod"] != status["primary"]]
    volume = clusters.get("pvc", f"pgdata-{lost}")["metadata"]["uid"]
    site.kubectl("delete", "pvc", f"pgdata-{lost}", "-n", site.old, "--wait=false")
    site.kubectl("delete", "pod", lost, "-n", site.old)

    def is_back() -> bool:
        claim = clusters.get("pvc", f"pgdata-{lost}")
        return claim is not None and claim["metadata"]["uid"] != volume

    eventually(is_back, "a new volume", explain=lambda: str(clusters.all("pvc")))
    clusters.wait_ready("files")
    assert site.lineage(site.old, "files") == lineage != ""


def test_lost_cluster_comes_back_in_another_namespace(site: RestoreSite) -> None:
    """With an object store. Nothing is created before the old cluster is gone and the password is there."""
    s3 = {"bucket": "backups", "region": "r", "keyPrefix": site.old, "credentialsSecret": "s3-credentials"}
    clusters = site.clusters(site.old)
    clusters.apply(site.manifest(site.old, "shop", backup={"type": "s3", "s3": s3}))
    clusters.wait_ready("shop")
    assert site.steward("backup", "shop", "-n", site.old).exit_code == 0
    lineage = site.lineage(site.old, "shop")

    site.clusters(site.new).apply(site.manifest(site.new, "shop", restore={"from": {"s3": s3}}))
    blocked = site.wait_restored(site.new, "shop", "RestoreBlocked")
    assert f"MultigresCluster {site.old}/shop uses the repository" in blocked["message"]
    assert site.clusters(site.new).all("tablegroups") == []

    site.lose(site.old, "shop", "shard-pool")
    eventually(
        lambda: "Secret shop-postgres-password does not exist" in site.restored(site.new, "shop")["message"],
        "the missing password",
    )
    site.copy_secret("shop-postgres-password")
    restored = site.wait_restored(site.new, "shop", "Restored")
    site.clusters(site.new).wait_ready("shop")
    assert restored["status"] == "True"
    assert site.lineage(site.new, "shop") == lineage != ""
    assert site.steward("backup", "shop", "-n", site.new).exit_code == 0


def test_lost_volumes_come_back_from_the_repository_beside_them(
    site: RestoreSite, files: dict[str, Any], tmp_path: Path
) -> None:
    """With a repository on a volume, by the command line, from a MultigresBackup."""
    clusters = site.clusters(site.old)
    file = tmp_path / "files.yaml"
    file.write_text(yaml.safe_dump(files))
    clusters.wait_ready("files")
    lineage = site.lineage(site.old, "files")
    assert site.steward("backup", "files", "-n", site.old).exit_code == 0
    [backup] = [each for each in clusters.all("mgb") if each["spec"]["cluster"] == "files"]

    refused = site.steward("restore", "-f", str(file))
    assert "data cannot be restored into a cluster that exists" in refused.output
    site.kubectl("delete", "mgc", "files", "-n", site.old, "--wait=true", "--timeout=90s")
    refused = site.steward("restore", "-f", str(file))
    assert "its server would start from it instead of a backup" in refused.output
    site.kubectl("delete", "pvc", "-n", site.old, "-l", SERVERS_OF_FILES, "--timeout=90s")

    source = ("--from-backup", backup["metadata"]["name"])
    planned = site.steward("restore", "-f", str(file), *source, "--dry-run")
    assert (planned.exit_code, "3 servers restore the newest backup" in planned.output) == (0, True)
    restored = site.steward("restore", "-f", str(file), *source)
    assert (restored.exit_code, backup["status"]["backupId"] in restored.output) == (0, True), restored.output
    assert site.lineage(site.old, "files") == lineage != ""


SERVERS_OF_FILES = "multigres.com/cluster=files,app.kubernetes.io/component=shard-pool"


def test_empty_repository_is_not_called_restored(site: RestoreSite) -> None:
    s3 = {"bucket": "backups", "region": "r", "keyPrefix": f"{site.old}-empty"}
    clusters = site.clusters(site.old)
    secret = {"name": "empty-postgres-password", "namespace": site.old}
    clusters.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": secret, "stringData": {"password": "p"}}
    )
    clusters.apply(site.manifest(site.old, "empty", restore={"from": {"s3": s3}}))
    assert "began without data" in site.wait_restored(site.old, "empty", "RepositoryEmpty")["message"]


def test_existing_cluster_cannot_be_restored_in_place(kubectl: Kubectl, namespace: str) -> None:
    """The API server rejects it: no operator is needed."""
    patch = '{"spec":{"restore":{"from":{"filesystem":{}}}}}'
    Clusters(kubectl, namespace).apply(small_cluster(namespace, "living"))
    _, error = kubectl.run("patch", "mgc", "living", "-n", namespace, "--type=merge", "-p", patch)
    assert "an existing cluster cannot be restored in place" in error


def test_repository_of_a_restored_cluster_cannot_be_dropped_with_restore(
    kubectl: Kubectl, namespace: str
) -> None:
    s3 = {"bucket": "backups", "region": "r", "keyPrefix": "kept"}
    Clusters(kubectl, namespace).apply(small_cluster(namespace, "kept", restore={"from": {"s3": s3}}))
    remove = ("patch", "mgc", "kept", "-n", namespace, "--type=merge", "-p")
    _, error = kubectl.run(*remove, '{"spec":{"restore":null}}')
    assert "write it into backup before you remove restore" in error
    written = {"spec": {"restore": None, "backup": {"type": "s3", "s3": s3}}}
    kubectl(*remove, json.dumps(written))
