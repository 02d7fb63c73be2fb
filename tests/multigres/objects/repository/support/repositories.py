"""Inputs of a shard with a given repository, and what its pods get of it."""

from typing import Any

import msgspec

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.backup import Backup
from steward.multigres.api.compute import Pool
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.topo import TopoReference
from steward.multigres.names import ShardPath, backup_claim, shared_backup_claim
from steward.multigres.objects.repository.access import BackupAccess
from steward.multigres.objects.shard_inputs import ShardInputs, shard_inputs
from steward.multigres.objects.versions import NEWEST
from steward.multigres.views import ShardView

PATH = ShardPath("shop", "postgres", "default", "0-inf")
S3 = {"bucket": "b", "region": "r"}
SHARED = {"filesystem": {"storage": {"size": "1Gi", "accessModes": ["ReadWriteMany"]}}, "type": "filesystem"}
OWN_TO_A_NODE = {"filesystem": {"storage": {"size": "1Gi"}}, "type": "filesystem"}
Z1, Z2, ALL = backup_claim(PATH, "z1"), backup_claim(PATH, "z2"), shared_backup_claim(PATH)


def inputs(backup: dict[str, Any], *cells: str, existing: frozenset[str] = frozenset()) -> ShardInputs:
    labels = {"multigres.com/cluster": "shop"}
    spec = ShardSpec(
        shard_name="0-inf",
        database_name="postgres",
        table_group_name="default",
        pools={"main": Pool(cells=list(cells or ["z1"]))},
        backup=msgspec.convert(backup, Backup),
        global_topo_server=TopoReference("etcd:2379", "/", "etcd"),
        objects_version=NEWEST,
    )
    view = ShardView(ObjectMeta(name="s", namespace="ns", uid="u", labels=labels), spec)
    return shard_inputs(view, repository_claims=existing)


def env(found: BackupAccess) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in found.env}
