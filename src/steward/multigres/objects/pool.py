"""Pools: per cell a StatefulSet of Postgres servers and its headless Service.

In each pod pgctld runs as a native sidecar, so that Postgres stops after the pooler in front of it. The volume is
mounted above PGDATA because initdb cannot change the mode of a mount point. The update strategy is `OnDelete`: the
operator replaces pods itself, one at a time across the whole shard and the primary last; a rolling update would
replace pods of every pool at once, by ordinal. A change of the pod template therefore restarts every server.
"""

from collections.abc import Mapping

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.compute import Pool
from steward.multigres.api.images import Images
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import POOL_LABEL, Manifest, metadata, selector
from steward.multigres.objects.pod_spec import (
    POSTGRES_UID,
    pod_security_fields,
    pull_secret_fields,
    sampling_volumes,
    scheduling_fields,
)
from steward.multigres.objects.pool_containers import (
    GRPC,
    HTTP,
    MEMORY_FILE,
    METRICS,
    POSTGRES,
    PoolPod,
    exporter_container,
    memory_settings,
    pgctld_container,
    pooler_container,
)
from steward.multigres.objects.repository.access import backup_access, renewal_annotations
from steward.multigres.objects.services import headless_service
from steward.multigres.objects.shard_inputs import CONFIG_ANNOTATION, ShardInputs, copies_postgres_config
from steward.multigres.objects.topo_access import topo_access
from steward.multigres.objects.versions import SHARED_MEMORY_VOLUME
from steward.multigres.objects.volumes import claim_template, retention_policy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN

COMPONENT = "shard-pool"
CLAIM = "pgdata"
GRACE_SECONDS = 60
RESTART_ANNOTATION = "multigres.com/restarted-at"
MEMORY_ANNOTATION = "multigres.com/postgres-memory"
"""Settings by memory. A file in the pod has its value: another object for each pool would have to be written before
the pods that need it, and a running server could read it too early."""


def pool_objects(shard: ShardInputs) -> list[Manifest]:
    pools = or_default(shard.spec.pools, {})
    return [
        manifest
        for name in sorted(pools)
        for cell in sorted(or_default(pools[name].cells, []))
        for manifest in _cell_objects(shard, name, cell)
    ]


def _cell_objects(shard: ShardInputs, name: str, cell: str) -> list[Manifest]:
    labels = shard.cell_labels(COMPONENT, cell, {POOL_LABEL: name})
    service = names.pool_headless(shard.path, name, cell)
    return [
        stateful_set(shard, name, cell, labels),
        headless_service(shard.owner, service, labels, (HTTP, GRPC, POSTGRES, METRICS)),
    ]


def stateful_set(shard: ShardInputs, name: str, cell: str, labels: Mapping[str, str]) -> Manifest:
    pool = or_default(shard.spec.pools, {})[name]
    claim = claim_template(CLAIM, or_default(pool.storage, defaults.POOL.storage), selector(labels))
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(shard.owner, names.pool(shard.path, name, cell), labels),
        "spec": {
            "serviceName": names.pool_headless(shard.path, name, cell),
            "replicas": or_default(pool.replicas_per_cell, defaults.POOL_REPLICAS),
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "OnDelete"},
            "persistentVolumeClaimRetentionPolicy": retention_policy(
                or_default(pool.pvc_deletion_policy, RETAIN)
            ),
            "selector": {"matchLabels": selector(labels)},
            "template": {
                "metadata": _pod_metadata(shard, name, labels),
                "spec": _pod(shard, name, cell, labels),
            },
            "volumeClaimTemplates": [claim],
        },
    }


def _pod_metadata(shard: ShardInputs, name: str, labels: Mapping[str, str]) -> Manifest:
    annotations = {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(METRICS.number),
    }
    if shard.config_digest:
        annotations[CONFIG_ANNOTATION] = shard.config_digest
    if settings := memory_settings(shard, or_default(shard.spec.pools, {})[name]):
        annotations[MEMORY_ANNOTATION] = settings
    annotations |= renewal_annotations(shard)
    if restarted_at := shard.restarts.get(name):
        annotations[RESTART_ANNOTATION] = restarted_at
    return {"labels": dict(labels), "annotations": annotations}


def _pod(shard: ShardInputs, name: str, cell: str, labels: Mapping[str, str]) -> Manifest:
    pool = or_default(shard.spec.pools, {})[name]
    access = backup_access(shard, cell)
    build = PoolPod(shard, pool, cell, names.pool_headless(shard.path, name, cell), access)
    pod: Manifest = {
        **pod_security_fields(POSTGRES_UID),
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "initContainers": [pgctld_container(build)],
        "containers": [pooler_container(build), exporter_container(build)],
        "volumes": _volumes(build),
        **scheduling_fields(labels, pool),
        **pull_secret_fields(or_default(shard.spec.images, Images())),
    }
    if nodes := shard.node_selector(cell):
        pod["nodeSelector"] = dict(nodes)
    if access.service_account:
        pod["serviceAccountName"] = access.service_account
    return pod


def _volumes(build: PoolPod) -> list[Manifest]:
    shard = build.shard
    volumes = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "socket-dir", "emptyDir": {}},
        _config_map("pg-hba-template", shard.object_name("pg-hba")),
        _config_map("exporter-queries", shard.object_name("exporter-queries")),
        _password(shard),
        *build.backup.volumes,
        *topo_access(shard.spec.global_topo_server).volumes,
        *sampling_volumes(shard.spec.observability),
    ]
    if shard.mounts_postgres_config:
        volumes.append(_postgres_config(shard))
    return [*volumes, *_memory_volumes(build)]


def _memory_volumes(build: PoolPod) -> list[Manifest]:
    volumes: list[Manifest] = []
    # Container runtimes give /dev/shm 64 MB. Parallel queries share their working memory there, and fail if it is full.
    if build.shard.version >= SHARED_MEMORY_VOLUME:
        volumes.append({"name": "shared-memory", "emptyDir": {"medium": "Memory"}})
    if build.memory_settings:
        field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{MEMORY_ANNOTATION}']"}
        items = [{"path": MEMORY_FILE, "fieldRef": field}]
        volumes.append({"name": "postgres-memory", "downwardAPI": {"defaultMode": 420, "items": items}})
    return volumes


def _postgres_config(shard: ShardInputs) -> Manifest:
    reference, path = shard.spec.postgres_config_ref, "postgresql.conf"
    if reference is UNSET or copies_postgres_config(shard.spec):
        name, key = shard.object_name("postgres-config"), path
    else:
        name, key = reference.name, reference.key
    items = [{"key": key, "path": path}]
    return {"name": "postgres-config", "configMap": {"name": name, "defaultMode": 420, "items": items}}


def _config_map(volume: str, name: str) -> Manifest:
    return {"name": volume, "configMap": {"name": name, "defaultMode": 420}}


def _password(shard: ShardInputs) -> Manifest:
    items = [{"key": shard.password_key, "path": "password"}]
    secret = {"secretName": shard.password_secret, "defaultMode": 0o440, "items": items}
    return {"name": "postgres-password", "secret": secret}


def pool_cells(pools: Mapping[str, Pool]) -> list[str]:
    """The cells in which the shard has servers."""
    return sorted({cell for pool in pools.values() for cell in or_default(pool.cells, [])})
