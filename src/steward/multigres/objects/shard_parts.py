"""What the pools of a shard share: access rules, exporter queries, the disruption budget."""

from steward.multigres import names
from steward.multigres.objects.metadata import CELL, POOL, Manifest, metadata, selector
from steward.multigres.objects.pool import COMPONENT as POOL_COMPONENT
from steward.multigres.objects.shards import ShardBuild

# Only containers of the same pod reach the socket. Over the network everybody shows a password, replicas included:
# without the replication lines a shard never keeps a primary.
ACCESS_RULES = """\
local   all          all                 trust
local   replication  all                 trust
host    all          all  0.0.0.0/0      scram-sha-256
host    all          all  ::/0           scram-sha-256
host    replication  all  0.0.0.0/0      scram-sha-256
host    replication  all  ::/0           scram-sha-256
"""

EXPORTER_QUERIES = """\
pg_replication_lag:
  query: >-
    SELECT CASE WHEN pg_is_in_recovery() THEN
    COALESCE(EXTRACT(EPOCH FROM now() - pg_last_xact_replay_timestamp()), 0) ELSE 0 END AS seconds
  metrics:
    - seconds: {usage: GAUGE, description: Seconds since the last replayed transaction on a replica.}
pg_archiving:
  query: SELECT archived_count, failed_count FROM pg_stat_archiver
  metrics:
    - archived_count: {usage: COUNTER, description: WAL files archived.}
    - failed_count: {usage: COUNTER, description: Failed attempts to archive a WAL file.}
"""


def config_maps(shard: ShardBuild) -> list[Manifest]:
    return [
        _config_map(shard, "pg-hba", "pg-hba-config", {"pg_hba_template.conf": ACCESS_RULES}),
        _config_map(
            shard, "exporter-queries", "postgres-exporter-queries", {"queries.yaml": EXPORTER_QUERIES}
        ),
    ]


def _config_map(shard: ShardBuild, suffix: str, component: str, data: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(shard.owner, shard.named(suffix), shard.labels(component)),
        "data": data,
    }


def disruption_budget(shard: ShardBuild) -> Manifest:
    """One server of the whole shard at a time, whatever pools and cells it has. One that is not ready may always go:
    it serves nobody, and a broken one must be replaced to be mended."""
    own = shard.labels(POOL_COMPONENT)
    chosen = {key: value for key, value in selector(own).items() if key not in (CELL, POOL)}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(shard.owner, names.disruption_budget(shard.path), own),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": chosen},
        },
    }
