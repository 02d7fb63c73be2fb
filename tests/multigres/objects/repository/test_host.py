"""The pod that serves a repository on a volume to the servers of a shard."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.compute import Pool
from steward.multigres.names import repository_host, shared_backup_claim
from steward.multigres.objects.pool import pool_objects
from steward.multigres.objects.repository.access import backup_access
from steward.multigres.objects.repository.claims import has_repository_host
from steward.multigres.objects.repository.host import repository_host_objects
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.tree import shard_objects
from tests.multigres.objects.repository.support.repositories import (
    ALL,
    OWN_TO_A_NODE,
    PATH,
    S3,
    SHARED,
    Z1,
    Z2,
    env,
    inputs,
)

ONE_POD = {"type": "filesystem", "filesystem": {"storage": {"accessModes": ["ReadWriteOncePod"]}}}
OWN_CERTIFICATES = {**OWN_TO_A_NODE, "pgbackrestTLS": {"secretName": "mine"}}


@pytest.mark.parametrize(
    ("backup", "cells", "existing", "expected"),
    [
        (OWN_TO_A_NODE, ("z1",), (), True),
        (OWN_TO_A_NODE, ("z1",), (Z1,), True),
        (OWN_TO_A_NODE, ("z1", "z2"), (), True),
        (OWN_TO_A_NODE, ("z1", "z2"), (Z1,), True),
        (OWN_TO_A_NODE, ("z1", "z2"), (Z1, Z2), False),
        (OWN_TO_A_NODE, ("z2",), (Z1,), True),
        (OWN_TO_A_NODE, ("z1",), (ALL,), True),
        (ONE_POD, ("z1",), (), True),
        (OWN_CERTIFICATES, ("z1", "z2"), (), False),
        (SHARED, ("z1", "z2"), (), False),
        ({"type": "s3", "s3": S3}, ("z1", "z2"), (), False),
    ],
    ids=[
        *("one cell", "one cell, existing", "two cells", "a cell added", "a claim per cell", "another cell"),
        *("a cell removed", "one pod", "own certificates", "shared volume", "object store"),
    ],
)
def test_a_pod_serves_the_repository(
    backup: dict[str, Any], cells: tuple[str, ...], existing: tuple[str, ...], expected: bool
) -> None:
    shard = inputs(backup, *cells, existing=frozenset(existing))
    assert has_repository_host(shard) is expected
    assert bool(repository_host_objects(shard)) is expected


def test_clusters_of_an_earlier_version_are_left_alone() -> None:
    shard = inputs(OWN_TO_A_NODE, "z1", "z2")
    earlier = shard._replace(spec=msgspec.structs.replace(shard.spec, objects_version=1))
    assert not has_repository_host(earlier)


def two_cells() -> ShardInputs:
    return inputs(OWN_TO_A_NODE, "z1", "z2")


def deployment(shard: ShardInputs) -> dict[str, Any]:
    return next(each for each in repository_host_objects(shard) if each["kind"] == "Deployment")


def test_only_the_pod_of_the_repository_mounts_its_volume() -> None:
    volumes = [
        (manifest["metadata"]["name"], volume["persistentVolumeClaim"]["claimName"])
        for manifest in shard_objects(two_cells())
        if manifest["kind"] in ("Deployment", "StatefulSet")
        for volume in manifest["spec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert volumes == [(repository_host(PATH), shared_backup_claim(PATH))]


def test_servers_reach_the_repository_with_the_certificate_that_they_have() -> None:
    found = backup_access(two_cells(), "z2")
    variables = env(found)
    assert variables["PGBACKREST_REPO1_HOST"] == f"{repository_host(PATH)}.ns.svc"
    assert variables["PGBACKREST_REPO1_HOST_TYPE"] == "tls"
    mounted = [each["mountPath"] for each in found.mounts]
    files = [variables[f"PGBACKREST_REPO1_HOST_{kind}_FILE"] for kind in ("CA", "CERT", "KEY")]
    assert all(file.rpartition("/")[0] in mounted for file in files)
    [container] = deployment(two_cells())["spec"]["template"]["spec"]["containers"]
    served = {each["name"]: each["value"] for each in container["env"]}
    assert served["PGBACKREST_TLS_SERVER_PORT"] == variables["PGBACKREST_REPO1_HOST_PORT"]


def test_the_repository_is_at_the_path_that_servers_name() -> None:
    backup = {"type": "filesystem", "filesystem": {"path": "/elsewhere"}}
    [container] = deployment(inputs(backup, "z1", "z2"))["spec"]["template"]["spec"]["containers"]
    assert "/elsewhere" in [each["mountPath"] for each in container["volumeMounts"]]


def test_the_pod_ends_before_its_successor_starts_and_has_the_user_of_the_servers() -> None:
    spec = deployment(two_cells())["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    server = pool_objects(two_cells())[0]["spec"]["template"]["spec"]
    assert spec["template"]["spec"]["securityContext"] == server["securityContext"]


def test_the_pod_restarts_when_the_certificate_was_renewed() -> None:
    before, after = deployment(two_cells()), deployment(two_cells()._replace(certificate_renewals=1))
    assert before["spec"]["template"] != after["spec"]["template"]


def test_a_shard_without_servers_needs_no_pod() -> None:
    shard = two_cells()
    pools = {"main": Pool(cells=["z1", "z2"], replicas_per_cell=0)}
    asleep = shard._replace(spec=msgspec.structs.replace(shard.spec, pools=pools))
    assert deployment(asleep)["spec"]["replicas"] == 0


def test_a_shard_without_cells_has_no_pod() -> None:
    shard = inputs(ONE_POD)
    empty = shard._replace(spec=msgspec.structs.replace(shard.spec, pools={}))
    assert repository_host_objects(empty) == []


def test_an_unanswered_listing_ends_before_a_pooler_takes_it_for_an_empty_repository() -> None:
    """A pooler ends pgBackRest after 30 s."""
    assert float(env(backup_access(inputs(OWN_TO_A_NODE), "z1"))["PGBACKREST_IO_TIMEOUT"]) < 30
