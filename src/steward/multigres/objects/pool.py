"""A pool in one cell: a StatefulSet of Postgres servers and the Service that names them.

In each pod pgctld runs as a native sidecar, so that Postgres outlives the pooler in front of it. The volume is mounted
above PGDATA: initdb cannot change the mode of a mount point. `OnDelete`: Steward replaces pods itself, one at a time
across the whole shard and the primary last; a rolling update would take every pool at once, by ordinal.
"""

from collections.abc import Mapping

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.compute import Pool
from steward.multigres.api.images import Images
from steward.multigres.objects.backup import BackupAccess, backup_access
from steward.multigres.objects.metadata import POOL, Manifest, metadata, selector
from steward.multigres.objects.pods import pod_security, pulling, sampling_volume, spread
from steward.multigres.objects.pool_containers import (
    GRPC,
    HTTP,
    METRICS,
    POSTGRES,
    Build,
    exporter,
    pgctld,
    pooler,
)
from steward.multigres.objects.services import headless_service
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.objects.topology import topo_access
from steward.multigres.objects.volumes import claim_template, retention_policy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN
from steward.multigres.resolution.layers import given

COMPONENT = "shard-pool"
POSTGRES_USER = 999
GRACE_SECONDS = 60
CONFIG_ANNOTATION = "multigres.com/postgres-config-hash"
RENEWALS_ANNOTATION = "multigres.com/backup-certificate-renewals"


def pool_objects(shard: ShardBuild) -> list[Manifest]:
    pools = given(shard.spec.pools, {})
    return [
        built
        for name in sorted(pools)
        for cell in sorted(given(pools[name].cells, []))
        for built in _cell_objects(shard, name, cell)
    ]


def _cell_objects(shard: ShardBuild, name: str, cell: str) -> list[Manifest]:
    own = shard.cell_labels(COMPONENT, cell, {POOL: name})
    service = names.pool_headless(shard.path, name, cell)
    return [
        stateful_set(shard, name, cell, own),
        headless_service(shard.owner, service, own, (HTTP, GRPC, POSTGRES, METRICS)),
    ]


def stateful_set(shard: ShardBuild, name: str, cell: str, own: Mapping[str, str]) -> Manifest:
    pool = given(shard.spec.pools, {})[name]
    claim = claim_template("pgdata", given(pool.storage, defaults.POOL.storage), selector(own))
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(shard.owner, names.pool(shard.path, name, cell), own),
        "spec": {
            "serviceName": names.pool_headless(shard.path, name, cell),
            "replicas": given(pool.replicas_per_cell, given(defaults.POOL.replicas_per_cell, 3)),
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "persistentVolumeClaimRetentionPolicy": retention_policy(given(pool.pvc_deletion_policy, RETAIN)),
            "selector": {"matchLabels": selector(own)},
            "template": {
                "metadata": _pod_metadata(shard, own),
                "spec": _pod(shard, name, cell, own),
            },
            "volumeClaimTemplates": [claim],
        },
    }


def _pod_metadata(shard: ShardBuild, own: Mapping[str, str]) -> Manifest:
    annotations = {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(METRICS.number),
    }
    if shard.config_digest:
        annotations[CONFIG_ANNOTATION] = shard.config_digest
    # The backup server reads its certificate when it starts. The first one needs no restart, each later one does.
    if shard.certificate_renewals:
        annotations[RENEWALS_ANNOTATION] = str(shard.certificate_renewals)
    return {"labels": dict(own), "annotations": annotations}


def _pod(shard: ShardBuild, name: str, cell: str, own: Mapping[str, str]) -> Manifest:
    pool = given(shard.spec.pools, {})[name]
    access = backup_access(shard, cell)
    build = Build(shard, pool, cell, names.pool_headless(shard.path, name, cell), access)
    pod: Manifest = {
        "securityContext": pod_security(POSTGRES_USER),
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "initContainers": [pgctld(build)],
        "containers": [pooler(build), exporter(build)],
        "volumes": _volumes(shard, access),
        **spread(own, pool),
        **pulling(given(shard.spec.images, Images())),
    }
    if nodes := shard.nodes(cell):
        pod["nodeSelector"] = dict(nodes)
    if access.service_account:
        pod["serviceAccountName"] = access.service_account
    return pod


def _volumes(shard: ShardBuild, access: BackupAccess) -> list[Manifest]:
    volumes = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "socket-dir", "emptyDir": {}},
        _config_map("pg-hba-template", shard.named("pg-hba")),
        _config_map("exporter-queries", shard.named("exporter-queries")),
        _password(shard),
        *access.volumes,
        *topo_access(shard.spec.global_topo_server).volumes,
        *sampling_volume(shard.spec.observability),
    ]
    config = shard.spec.postgres_config_ref
    if config is not UNSET:
        items = [{"key": config.key, "path": "postgresql.conf"}]
        volumes.append(
            {
                "name": "postgres-config",
                "configMap": {"name": config.name, "defaultMode": 420, "items": items},
            }
        )
    return volumes


def _config_map(volume: str, name: str) -> Manifest:
    return {"name": volume, "configMap": {"name": name, "defaultMode": 420}}


def _password(shard: ShardBuild) -> Manifest:
    items = [{"key": shard.password_key, "path": "password"}]
    secret = {"secretName": shard.password_secret, "defaultMode": 0o440, "items": items}
    return {"name": "postgres-password", "secret": secret}


def pools_by_cell(pools: Mapping[str, Pool]) -> list[str]:
    """The cells in which the shard has data."""
    return sorted({cell for pool in pools.values() for cell in given(pool.cells, [])})
