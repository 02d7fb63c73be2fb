"""A cluster in two cells without `spec.backup`: one pod serves the repository to the servers of both.

The servers of the fake data plane elect no primary if they start from different repositories. Each test has a cluster
in a namespace of its own; both share one operator.
"""

import base64
from collections.abc import Iterator

import pytest

from steward.certificates.x509 import read_certificate
from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.multigres.names import ShardPath
from tests.multigres.support.backed_up_cluster import BackedUpCluster
from tests.multigres.support.more_short_periods import QUICK_BACKUPS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

PATH = ShardPath("shop", "postgres", "default", "0-inf")
HOST, SHARD = names.repository_host(PATH), names.shard(PATH)
TWO_CELLS = {"cells": [{"zone": "z1"}, {"zone": "z2"}], "pool": {"replicasPerCell": 1}}


@pytest.fixture(scope="module")
def homes(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    api_server: ApiServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    """Two namespaces of one operator; a test takes the last one."""
    made = [namespaces.create_namespace(api_server) for _ in range(2)]
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, ",".join(made), log, periods=QUICK_BACKUPS):
        yield list(made)
    for name in made:
        namespaces.release_namespace(api_server, name)


@pytest.fixture
def shop(homes: list[str], kubectl: Kubectl) -> BackedUpCluster:
    return BackedUpCluster(kubectl, homes.pop())


def servers(shop: BackedUpCluster) -> list[str]:
    label = "app.kubernetes.io/component"
    pods = shop.clusters.all("pods")
    return [pod["metadata"]["name"] for pod in pods if pod["metadata"]["labels"][label] == "shard-pool"]


def mounted_claims(shop: BackedUpCluster) -> dict[str, set[str]]:
    """The claims of repositories that pods mount, by their component."""
    found: dict[str, set[str]] = {}
    for pod in shop.clusters.all("pods"):
        component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
        claims = {
            volume["persistentVolumeClaim"]["claimName"]
            for volume in pod["spec"]["volumes"]
            if volume["name"] == "backup-data" and "persistentVolumeClaim" in volume
        }
        found[component] = found.get(component, set()) | claims
    return found


def test_plain_cluster_in_two_cells_serves_and_its_primary_makes_the_backups(shop: BackedUpCluster) -> None:
    shop.apply(**TWO_CELLS)
    shop.clusters.wait_ready("shop")
    mounted = mounted_claims(shop)
    assert mounted["backup-repository"] == {names.shared_backup_claim(PATH)}
    assert mounted["shard-pool"] == set()
    secret = shop.clusters.get("secret", f"{SHARD}-pgbackrest-tls")
    facts = read_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    assert facts is not None
    assert f"{HOST}.{shop.namespace}.svc" in facts.dns_names
    shop.create("by-hand")
    made = shop.wait_phase("by-hand", "Completed")
    assert made["server"] == shop.clusters.get("shard", SHARD)["status"]["primary"]


def test_added_cell_starts_from_the_repository_of_the_first(shop: BackedUpCluster) -> None:
    shop.apply(cells=[{"zone": "z1"}], pool={"replicasPerCell": 2})
    shop.clusters.wait_ready("shop")
    claim = names.shared_backup_claim(PATH)
    served = {"backup-repository": {claim}, "shard-pool": set()}
    assert {component: mounted_claims(shop)[component] for component in served} == served
    shop.apply(cells=[{"zone": "z1"}, {"zone": "z2"}], pool={"replicasPerCell": 2})
    eventually(
        lambda: len(servers(shop)) == 4, "the servers of the added cell", explain=lambda: str(servers(shop))
    )
    shop.clusters.wait_ready("shop")
    assert {component: mounted_claims(shop)[component] for component in served} == served
    claims = [each["metadata"]["name"] for each in shop.clusters.all("pvc")]
    assert [name for name in claims if name.startswith("backup-data")] == [claim]
