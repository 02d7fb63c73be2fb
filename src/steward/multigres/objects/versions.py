"""Versions of the pods that the builders make.

A release that builds other pods than the one before must not restart every server of every cluster at once. Each object
that pods are built from therefore names the version of its pods (`objectsVersion`), and the builders build that one.
The operator moves a cluster to the newest version as its update policy says (`template_updates.objects_version`).

A change of a pod template needs a new entry in `VERSIONS`, and a constant here that names the version from which on it
is built. Default images are part of the pod templates: a new one is such a change, and also an entry in
`built_in_images.RELEASED`. Version 1 are the pods of releases without versions; a test compares them with recorded
digests.
"""

from typing import Final, NamedTuple

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.api.scalars import UNSET, Unset
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import GO_FINALIZERS

FIRST: Final = 1
POSTGRES_READINESS: Final = 2
FAILOVER_BUFFERING: Final = 2
SHORT_ELECTION_WAIT: Final = 2
LENIENT_LIVENESS: Final = 2
POSTGRES_CONFIG_COPY: Final = 2
EXPORT_INTERVAL_IN_MILLISECONDS: Final = 2
CREATED_DATABASE: Final = 2
SAMPLING_RULES_IN_PGCTLD: Final = 2
OPERATOR_TELEMETRY: Final = 2
PROMETHEUS_METRICS: Final = 2
ACCEPTS_CLIENTS: Final = 2
POSTGRES_CONFIG_FROM_INITDB: Final = 2
RETENTION_BY_OPERATOR: Final = 2
REPOSITORY_HOST: Final = 2
REPOSITORY_TIMEOUT: Final = 2
MEMORY_SETTINGS: Final = 2
SHARED_MEMORY_VOLUME: Final = 2

POSTGRES_SERVERS, GATEWAYS, ORCHESTRATORS = "Postgres servers", "gateways", "orchestrators"


class ObjectsVersion(NamedTuple):
    """What a version changes, in words for users, and the components that it restarts in every cluster."""

    number: int
    changes: tuple[str, ...]
    restarts: frozenset[str]


VERSIONS: Final = (
    ObjectsVersion(
        2,
        (
            "a pod of Postgres is ready when Postgres accepts connections",
            "gateways hold requests during a failover instead of failing them",
            "orchestrators elect a new primary after 2 to 3 seconds instead of 4 to 12",
            "Postgres servers read their settings from a checked copy of the ConfigMap in postgresConfigRef",
            "a busy node no longer restarts servers, gateways and orchestrators that answer late",
            "observability.metricExportInterval may be a duration",
            "the first start of a shard creates its database, if it has another name than postgres",
            "the operator's own OTEL_* settings apply to clusters without observability",
            "pgctld finds the sampling rules of observability.samplingConfigRef",
            "new servers read postgresConfigRef also if it is given later",
            "backups expire by spec.backup.retention only, not when there are more than seven full ones",
            "servers share the repository on a volume through a pod that serves it, on any node and in any cell",
            "a server reports a repository that does not answer instead of taking it for an empty one",
            "gateways and poolers serve Prometheus metrics",
            "gateways of a cell that is removed keep their clients until these have left, or the period is over",
            "new servers take shared_buffers and other settings from the memory of their pod",
            "parallel queries may use more than 64 MB of shared memory",
            "the first postgres.settings of a cluster no longer restart its servers, unless Postgres needs that",
        ),
        frozenset({POSTGRES_SERVERS, GATEWAYS, ORCHESTRATORS}),
    ),
)
NEWEST: Final = VERSIONS[-1].number


def version_of(written: int | Unset) -> int:
    """The version that a spec names; releases without versions wrote none. The newest one stands in for a version of a
    later release, which this one cannot build."""
    return min(or_default(written, FIRST), NEWEST)


def written_version(version: int) -> int | Unset:
    """The value of `objectsVersion`. The first version is not written: an upgrade of the operator must not write to
    every object of a cluster that waits for approval."""
    return UNSET if version == FIRST else version


def is_of_go_operator(meta: ObjectMeta, written: int | Unset) -> bool:
    """Whether a child is still as the Go operator has written it. Its pods are replaced once its parent has named a
    version, and not before: they would be replaced again."""
    return written is UNSET and any(name in GO_FINALIZERS for name in meta.finalizers)


def versions_after(version: int) -> list[ObjectsVersion]:
    return [each for each in VERSIONS if each.number > version]
