"""The containers of a pool's pod: pgctld with Postgres, the pooler in front of it, the exporter beside it."""

from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.compute import Pool
from steward.multigres.api.images import Images
from steward.multigres.objects.backup import CERTIFICATE_DIRECTORY, PORT, BackupAccess
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.pods import (
    Port,
    container_security,
    field_env,
    http_probes,
    pull_policy,
    resources,
    sampling_mount,
    telemetry_env,
)
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.objects.topology import topo_access
from steward.multigres.resolution import defaults
from steward.multigres.resolution.layers import given

HTTP, GRPC = Port("http", 15200), Port("grpc", 15270)
POSTGRES, METRICS = Port("postgres", 5432), Port("metrics", 9187)
PGCTLD_HTTP, PGCTLD_GRPC = Port("pgctld-http", 15400), 15470
POOLER_DIRECTORY = "/var/lib/pooler"
DATA_DIRECTORY = f"{POOLER_DIRECTORY}/pg_data"
SOCKET = f"{POOLER_DIRECTORY}/pg_sockets/.s.PGSQL.{POSTGRES.number}"
PASSWORD_FILE = "/etc/postgres-password/password"
CONFIG_FILE = "/etc/pgctld/postgres-config/postgresql.conf"
EXPORTER_IMAGE = "quay.io/prometheuscommunity/postgres-exporter:v0.20.1"


class Build(NamedTuple):
    """One pod to fill with containers."""

    shard: ShardBuild
    pool: Pool
    cell: str
    service: str
    backup: BackupAccess

    @property
    def images(self) -> Images:
        return given(self.shard.spec.images, Images())


def pgctld(build: Build) -> Manifest:
    levels = given(build.shard.spec.log_levels, defaults.LOG_LEVELS)
    return {
        "name": "postgres",
        "image": given(build.images.postgres, given(defaults.IMAGES.postgres, "")),
        "imagePullPolicy": pull_policy(build.images),
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
            f"--log-level={given(levels.pgctld, 'info')}",
        ],
        "env": [
            *_postgres_env(build),
            *build.backup.env,
            *telemetry_env(build.shard.spec.observability, "pgctld"),
        ],
        "ports": [PGCTLD_HTTP.of_container()],
        "resources": resources(build.pool.postgres),
        "securityContext": container_security(),
        "volumeMounts": [
            *_data_mounts(build),
            {"name": "pg-hba-template", "mountPath": "/etc/pgctld", "readOnly": True},
            *_config_mounts(build),
        ],
        **http_probes("/live", "/live", PGCTLD_HTTP.name),
    }


def _postgres_env(build: Build) -> list[Manifest]:
    values = {
        "PGDATA": DATA_DIRECTORY,
        "POSTGRES_USER": defaults.SUPERUSER,
        "POSTGRES_PASSWORD_FILE": PASSWORD_FILE,
    }
    if arguments := given(build.shard.spec.initdb_args, ""):
        values["POSTGRES_INITDB_ARGS"] = arguments
    if build.shard.spec.postgres_config_ref is not UNSET:
        values["POSTGRES_INITDB_EXTRA_CONF"] = CONFIG_FILE
    return [{"name": name, "value": value} for name, value in values.items()]


def _data_mounts(build: Build) -> list[Manifest]:
    return [
        {"name": "pgdata", "mountPath": POOLER_DIRECTORY},
        {"name": "socket-dir", "mountPath": "/var/run/postgresql"},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "postgres-password", "mountPath": "/etc/postgres-password", "readOnly": True},
        *build.backup.mounts,
    ]


def _config_mounts(build: Build) -> list[Manifest]:
    if build.shard.spec.postgres_config_ref is UNSET:
        return []
    return [{"name": "postgres-config", "mountPath": "/etc/pgctld/postgres-config", "readOnly": True}]


def pooler(build: Build) -> Manifest:
    spec = build.shard.spec
    topo = topo_access(spec.global_topo_server)
    return {
        "name": "multipooler",
        "image": given(build.images.multipooler, given(defaults.IMAGES.multipooler, "")),
        "imagePullPolicy": pull_policy(build.images),
        "args": ["multipooler", *topo.flags, *_pooler_flags(build), *_backup_flags()],
        "env": [
            field_env("POD_NAME", "metadata.name"),
            *_postgres_env(build)[:3],
            *build.backup.env,
            *telemetry_env(spec.observability, "multipooler"),
        ],
        "ports": [port.of_container() for port in (HTTP, GRPC, POSTGRES)],
        "resources": resources(build.pool.multipooler),
        "securityContext": container_security(),
        "volumeMounts": [*_data_mounts(build), *topo.mounts, *sampling_mount(spec.observability)],
        **http_probes("/ready", "/live", HTTP.name),
    }


def _pooler_flags(build: Build) -> list[str]:
    path = build.shard.path
    levels = given(build.shard.spec.log_levels, defaults.LOG_LEVELS)
    domain = f"{build.service}.{build.shard.owner.namespace}.svc.cluster.local"
    return [
        f"--http-port={HTTP.number}",
        f"--grpc-port={GRPC.number}",
        f"--pooler-dir={POOLER_DIRECTORY}",
        f"--socket-file={SOCKET}",
        "--service-map=grpc-pooler",
        f"--cell={build.cell}",
        f"--database={path.database}",
        f"--table-group={path.table_group}",
        f"--shard={path.shard}",
        # Stable over restarts: a random one would leave a stale record behind at every start.
        "--service-id=$(POD_NAME)",
        f"--hostname=$(POD_NAME).{domain}",
        f"--pgctld-addr=localhost:{PGCTLD_GRPC}",
        f"--pg-port={POSTGRES.number}",
        f"--log-level={given(levels.multipooler, 'info')}",
    ]


def _backup_flags() -> list[str]:
    return [
        f"--pgbackrest-cert-file={CERTIFICATE_DIRECTORY}/pgbackrest.crt",
        f"--pgbackrest-key-file={CERTIFICATE_DIRECTORY}/pgbackrest.key",
        f"--pgbackrest-ca-file={CERTIFICATE_DIRECTORY}/ca.crt",
        f"--pgbackrest-port={PORT}",
    ]


def exporter(build: Build) -> Manifest:
    values = {
        "DATA_SOURCE_URI": f"localhost:{POSTGRES.number}/{defaults.SYSTEM_DATABASE}?sslmode=disable",
        "DATA_SOURCE_USER": defaults.SUPERUSER,
        "DATA_SOURCE_PASS_FILE": PASSWORD_FILE,
    }
    return {
        "name": "postgres-exporter",
        "image": EXPORTER_IMAGE,
        "imagePullPolicy": pull_policy(build.images),
        "args": ["--extend.query-path=/etc/exporter/queries.yaml"],
        "env": [{"name": name, "value": value} for name, value in values.items()],
        "ports": [METRICS.of_container()],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": container_security(),
        "volumeMounts": [
            {"name": "exporter-queries", "mountPath": "/etc/exporter", "readOnly": True},
            {"name": "postgres-password", "mountPath": "/etc/postgres-password", "readOnly": True},
        ],
    }
