"""Containers of a pool's pods: pgctld with Postgres, multipooler, postgres-exporter."""

from typing import NamedTuple

from steward.multigres.api.compute import Pool
from steward.multigres.api.images import Images
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.pod_spec import (
    Port,
    container_security_context,
    downward_api_env,
    http_probes,
    prometheus_env,
    prometheus_ports,
    pull_policy,
    resource_requirements,
    sampling_mounts,
    telemetry_env,
)
from steward.multigres.objects.repository.access import CERTIFICATE_DIRECTORY, PORT, BackupAccess
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.objects.topo_access import topo_access
from steward.multigres.objects.versions import (
    CREATED_DATABASE,
    MEMORY_SETTINGS,
    POSTGRES_CONFIG_FROM_INITDB,
    POSTGRES_READINESS,
    SAMPLING_RULES_IN_PGCTLD,
    SHARED_MEMORY_VOLUME,
)
from steward.multigres.resolution import defaults
from steward.multigres.resolution.postgres.conf_format import format_settings
from steward.multigres.resolution.postgres.memory import pool_settings

HTTP, GRPC = Port("http", 15200), Port("grpc", 15270)
POSTGRES, METRICS = Port("postgres", 5432), Port("metrics", 9187)
POOLER_METRICS = Port("pooler-metrics", 9465)
PGCTLD_HTTP, PGCTLD_GRPC = Port("pgctld-http", 15400), 15470
POOLER_DIRECTORY = "/var/lib/pooler"
DATA_DIRECTORY = f"{POOLER_DIRECTORY}/pg_data"
SOCKET_DIRECTORY = f"{POOLER_DIRECTORY}/pg_sockets"
SOCKET = f"{SOCKET_DIRECTORY}/.s.PGSQL.{POSTGRES.number}"
PASSWORD_FILE = "/etc/postgres-password/password"
CONFIG_FILE = "/etc/pgctld/postgres-config/postgresql.conf"
MEMORY_DIRECTORY, MEMORY_FILE = "/etc/postgres-memory", "memory.conf"
EXPORTER_IMAGE = "quay.io/prometheuscommunity/postgres-exporter:v0.20.1"


class PoolPod(NamedTuple):
    """Inputs of the containers of one pod."""

    shard: ShardInputs
    pool: Pool
    cell: str
    service: str
    backup: BackupAccess

    @property
    def images(self) -> Images:
        return or_default(self.shard.spec.images, Images())

    @property
    def memory_settings(self) -> str:
        return memory_settings(self.shard, self.pool)


def memory_settings(shard: ShardInputs, pool: Pool) -> str:
    """Settings that follow from the memory of the servers of a pool."""
    if shard.version < MEMORY_SETTINGS:
        return ""
    return format_settings(pool_settings(pool, shard.postgres_config or ""))


def pgctld_container(pod: PoolPod) -> Manifest:
    levels = or_default(pod.shard.spec.log_levels, defaults.LOG_LEVELS)
    return {
        "name": "postgres",
        "image": or_default(pod.images.postgres, or_default(defaults.IMAGES.postgres, "")),
        "imagePullPolicy": pull_policy(pod.images),
        "restartPolicy": "Always",
        "command": ["/usr/local/bin/pgctld"],
        "args": [
            "server",
            f"--pooler-dir={POOLER_DIRECTORY}",
            f"--grpc-port={PGCTLD_GRPC}",
            f"--pg-port={POSTGRES.number}",
            "--pg-listen-addresses=*",
            f"--grpc-socket-file={POOLER_DIRECTORY}/pgctld.sock",
            "--pg-hba-template=/etc/pgctld/pg_hba_template.conf",
            f"--http-port={PGCTLD_HTTP.number}",
            f"--pgbackrest-cert-dir={CERTIFICATE_DIRECTORY}",
            f"--pgbackrest-port={PORT}",
            f"--log-level={or_default(levels.pgctld, 'info')}",
        ],
        "env": [
            *_postgres_env(pod),
            *pod.backup.env,
            *telemetry_env(pod.shard.spec.observability, "pgctld", pod.shard.version),
        ],
        "ports": [PGCTLD_HTTP.container_port()],
        "resources": resource_requirements(pod.pool.postgres),
        "securityContext": container_security_context(),
        "volumeMounts": [
            *_data_mounts(pod),
            {"name": "pg-hba-template", "mountPath": "/etc/pgctld", "readOnly": True},
            *_config_mounts(pod),
            *_memory_mounts(pod),
            *_sampling_mounts(pod),
        ],
        **http_probes("/live", "/live", PGCTLD_HTTP.name, pod.shard.version),
        **_postgres_readiness(pod.shard.version),
    }


def _postgres_readiness(version: int) -> Manifest:
    """Asks Postgres itself: pgctld is alive long before it, and stays so when Postgres fails. Only readiness does:
    pgctld and multiorch repair Postgres, and a restart of the container would interrupt them."""
    if version < POSTGRES_READINESS:
        return {}
    command = [
        "pg_isready",
        "--quiet",
        f"--host={SOCKET_DIRECTORY}",
        f"--port={POSTGRES.number}",
        f"--username={defaults.SUPERUSER}",
        f"--dbname={defaults.SYSTEM_DATABASE}",
        "--timeout=3",
    ]
    timings = {"periodSeconds": 5, "timeoutSeconds": 5, "failureThreshold": 2}
    return {"readinessProbe": {"exec": {"command": command}, **timings}}


def _postgres_env(pod: PoolPod) -> list[Manifest]:
    values = {
        "PGDATA": DATA_DIRECTORY,
        "POSTGRES_USER": defaults.SUPERUSER,
        "POSTGRES_PASSWORD_FILE": PASSWORD_FILE,
    }
    if arguments := or_default(pod.shard.spec.initdb_args, ""):
        values["POSTGRES_INITDB_ARGS"] = arguments
    if files := _included_files(pod):
        values["POSTGRES_INITDB_EXTRA_CONF"] = " ".join(files)
    # Gateways refuse CREATE DATABASE: a database that initdb does not create cannot be created at all.
    if pod.shard.version >= CREATED_DATABASE and pod.shard.path.database != defaults.SYSTEM_DATABASE:
        values["POSTGRES_DB"] = pod.shard.path.database
    return [{"name": name, "value": value} for name, value in values.items()]


def _included_files(pod: PoolPod) -> list[str]:
    """Files of settings, the last of which wins. Only at initdb does pgctld add the lines that include them; Postgres
    ignores a file that is missing."""
    version, files = pod.shard.version, []
    if version >= MEMORY_SETTINGS:
        files.append(f"{MEMORY_DIRECTORY}/{MEMORY_FILE}")
    if pod.shard.mounts_postgres_config or version >= POSTGRES_CONFIG_FROM_INITDB:
        files.append(CONFIG_FILE)
    return files


def _data_mounts(pod: PoolPod) -> list[Manifest]:
    return [
        {"name": "pgdata", "mountPath": POOLER_DIRECTORY},
        {"name": "socket-dir", "mountPath": "/var/run/postgresql"},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "postgres-password", "mountPath": "/etc/postgres-password", "readOnly": True},
        *pod.backup.mounts,
    ]


def _config_mounts(pod: PoolPod) -> list[Manifest]:
    if not pod.shard.mounts_postgres_config:
        return []
    return [{"name": "postgres-config", "mountPath": "/etc/pgctld/postgres-config", "readOnly": True}]


def _memory_mounts(pod: PoolPod) -> list[Manifest]:
    mounts: list[Manifest] = []
    if pod.shard.version >= SHARED_MEMORY_VOLUME:
        mounts.append({"name": "shared-memory", "mountPath": "/dev/shm"})
    if pod.memory_settings:
        mounts.append({"name": "postgres-memory", "mountPath": MEMORY_DIRECTORY, "readOnly": True})
    return mounts


def _sampling_mounts(pod: PoolPod) -> list[Manifest]:
    is_mounted = pod.shard.version >= SAMPLING_RULES_IN_PGCTLD
    return sampling_mounts(pod.shard.spec.observability) if is_mounted else []


def pooler_container(pod: PoolPod) -> Manifest:
    spec = pod.shard.spec
    topo = topo_access(spec.global_topo_server)
    return {
        "name": "multipooler",
        "image": or_default(pod.images.multipooler, or_default(defaults.IMAGES.multipooler, "")),
        "imagePullPolicy": pull_policy(pod.images),
        "args": ["multipooler", *topo.flags, *_pooler_flags(pod), *_backup_flags(), *pod.backup.pooler_flags],
        "env": [
            downward_api_env("POD_NAME", "metadata.name"),
            *_postgres_env(pod)[:3],
            *pod.backup.env,
            *telemetry_env(spec.observability, "multipooler", pod.shard.version),
            *_prometheus_env(pod),
        ],
        "ports": [port.container_port() for port in (HTTP, GRPC, POSTGRES, *_prometheus_ports(pod))],
        "resources": resource_requirements(pod.pool.multipooler),
        "securityContext": container_security_context(),
        "volumeMounts": [
            *_data_mounts(pod),
            *pod.backup.pooler_mounts,
            *topo.mounts,
            *sampling_mounts(spec.observability),
        ],
        **http_probes("/ready", "/live", HTTP.name, pod.shard.version),
    }


def _prometheus_env(pod: PoolPod) -> list[Manifest]:
    variables = prometheus_env(pod.shard.spec.observability, POOLER_METRICS, pod.shard.version)
    return [downward_api_env("POD_IP", "status.podIP"), *variables] if variables else []


def _prometheus_ports(pod: PoolPod) -> list[Port]:
    return prometheus_ports(pod.shard.spec.observability, POOLER_METRICS, pod.shard.version)


def _pooler_flags(pod: PoolPod) -> list[str]:
    path = pod.shard.path
    levels = or_default(pod.shard.spec.log_levels, defaults.LOG_LEVELS)
    domain = f"{pod.service}.{pod.shard.owner.namespace}.svc.cluster.local"
    return [
        f"--http-port={HTTP.number}",
        f"--grpc-port={GRPC.number}",
        f"--pooler-dir={POOLER_DIRECTORY}",
        f"--socket-file={SOCKET}",
        "--service-map=grpc-pooler",
        f"--cell={pod.cell}",
        f"--database={path.database}",
        f"--table-group={path.table_group}",
        f"--shard={path.shard}",
        # Stable over restarts: a random id would leave a stale record in the topology server at every start.
        "--service-id=$(POD_NAME)",
        f"--hostname=$(POD_NAME).{domain}",
        f"--pgctld-addr=localhost:{PGCTLD_GRPC}",
        f"--pg-port={POSTGRES.number}",
        f"--log-level={or_default(levels.multipooler, 'info')}",
    ]


def _backup_flags() -> list[str]:
    return [
        f"--pgbackrest-cert-file={CERTIFICATE_DIRECTORY}/pgbackrest.crt",
        f"--pgbackrest-key-file={CERTIFICATE_DIRECTORY}/pgbackrest.key",
        f"--pgbackrest-ca-file={CERTIFICATE_DIRECTORY}/ca.crt",
        f"--pgbackrest-port={PORT}",
    ]


def exporter_container(pod: PoolPod) -> Manifest:
    values = {
        "DATA_SOURCE_URI": f"localhost:{POSTGRES.number}/{defaults.SYSTEM_DATABASE}?sslmode=disable",
        "DATA_SOURCE_USER": defaults.SUPERUSER,
        "DATA_SOURCE_PASS_FILE": PASSWORD_FILE,
    }
    return {
        "name": "postgres-exporter",
        "image": EXPORTER_IMAGE,
        "imagePullPolicy": pull_policy(pod.images),
        "args": ["--extend.query-path=/etc/exporter/queries.yaml"],
        "env": [{"name": name, "value": value} for name, value in values.items()],
        "ports": [METRICS.container_port()],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": container_security_context(),
        "volumeMounts": [
            {"name": "exporter-queries", "mountPath": "/etc/exporter", "readOnly": True},
            {"name": "postgres-password", "mountPath": "/etc/postgres-password", "readOnly": True},
        ],
    }
