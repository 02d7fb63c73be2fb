"""Objects that all pools of a shard share: pg_hba rules, exporter queries, disruption budget."""

from steward.multigres import names
from steward.multigres.objects.metadata import CELL_LABEL, POOL_LABEL, Manifest, metadata, selector
from steward.multigres.objects.pool import COMPONENT as POOL_COMPONENT
from steward.multigres.objects.shard_inputs import CONFIG_ANNOTATION, ShardInputs

# Only containers of the same pod reach the socket. Network clients need a password, replicas included; without the
# replication lines replicas cannot connect and no primary stays elected.
PG_HBA = """\
local   all          all                 trust
local   replication  all                 trust
host    all          all  0.0.0.0/0      scram-sha-256
host    all          all  ::/0           scram-sha-256
host    replication  all  0.0.0.0/0      scram-sha-256
host    replication  all  ::/0           scram-sha-256
"""

# Names must differ from those of the exporter's own collectors, such as pg_replication_lag: with the same metric twice
# it answers every scrape with an error.
EXPORTER_QUERIES = """\
pg_archiving:
  query: SELECT archived_count, failed_count FROM pg_stat_archiver
  metrics:
    - archived_count: {usage: COUNTER, description: WAL files archived.}
    - failed_count: {usage: COUNTER, description: Failed attempts to archive a WAL file.}
pg_capacity:
  query: >-
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int AS max_connections,
    (SELECT coalesce(sum(pg_database_size(oid)), 0) FROM pg_database)
    + (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir())
    + (SELECT coalesce(sum(size), 0) FROM pg_ls_tmpdir()) AS data_bytes
  metrics:
    - connections: {usage: GAUGE, description: Connections of clients and poolers.}
    - max_connections: {usage: GAUGE, description: The most connections that Postgres accepts.}
    - data_bytes: {usage: GAUGE, description: Size of databases, WAL and temporary files.}
pg_oldest:
  query: >-
    SELECT (SELECT coalesce(max(extract(epoch FROM now() - xact_start)), 0) FROM pg_stat_activity
    WHERE backend_type = 'client backend') AS transaction_seconds,
    max(age(datfrozenxid)) AS transaction_age, max(mxid_age(datminmxid)) AS multixact_age FROM pg_database
  metrics:
    - transaction_seconds: {usage: GAUGE, description: Age of the oldest transaction that is open.}
    - transaction_age: {usage: GAUGE, description: Transactions since the oldest one that is not frozen.}
    - multixact_age: {usage: GAUGE, description: Multixacts since the oldest one that is not frozen.}
"""


POSTGRES_CONFIG, POSTGRES_CONFIG_KEY = "postgres-config", "postgresql.conf"


def config_maps(shard: ShardInputs) -> list[Manifest]:
    return [
        _config_map(shard, "pg-hba", "pg-hba-config", {"pg_hba_template.conf": PG_HBA}),
        _config_map(
            shard, "exporter-queries", "postgres-exporter-queries", {"queries.yaml": EXPORTER_QUERIES}
        ),
        *_postgres_config(shard),
    ]


def _postgres_config(shard: ShardInputs) -> list[Manifest]:
    settings = shard.postgres_config_copy
    if settings is None:
        return []
    copy = _config_map(shard, POSTGRES_CONFIG, POSTGRES_CONFIG, {POSTGRES_CONFIG_KEY: settings})
    if settings or shard.config_digest:
        copy["metadata"]["annotations"] = {CONFIG_ANNOTATION: shard.config_digest}
    return [copy]


def _config_map(shard: ShardInputs, suffix: str, component: str, data: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(shard.owner, shard.object_name(suffix), shard.component_labels(component)),
        "data": data,
    }


def disruption_budget(shard: ShardInputs) -> Manifest:
    """At most one server of the whole shard at a time, across pools and cells. Pods that are not ready may always be
    evicted: they serve no clients, and replacing them may be the repair."""
    labels = shard.component_labels(POOL_COMPONENT)
    chosen = {key: value for key, value in selector(labels).items() if key not in (CELL_LABEL, POOL_LABEL)}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(shard.owner, names.disruption_budget(shard.path), labels),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": chosen},
        },
    }
