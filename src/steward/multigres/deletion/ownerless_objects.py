"""Recognizes objects of a cluster that no owner reference connects with it. Pure.

A deletion with `--cascade=orphan`, a StatefulSet that the operator was about to create again when it stopped, and edits
by hand leave objects without a controller. The garbage collector never deletes them, so the deletion of their cluster
does. Such an object belongs to a cluster if it has the labels of this operator and of the cluster, and the name that
follows from its labels. An object that has a controller is left to that controller.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from steward.kube.objects.kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    SECRET,
    SERVICE,
    STATEFUL_SET,
    Kind,
)
from steward.kube.objects.meta import ObjectMeta, controller_of
from steward.multigres import names
from steward.multigres.cache_rules import CELL, SHARD, TABLE_GROUP, TOPO_SERVER
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    DATABASE_LABEL,
    FIELD_MANAGER,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    ROLE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    TOPO_SERVER_LABEL,
)
from steward.multigres.rollout.volumes import ordinal_of
from steward.multigres.views import PodView

CERTIFICATE_SUFFIXES = ("-pgbackrest-ca", "-pgbackrest-tls")
CONFIG_SUFFIXES = ("pg-hba", "exporter-queries", "postgres-config")
TEMPLATE_LABELS = ("multigres.com/template-kind", "multigres.com/template")


class _Location(NamedTuple):
    """The location of an object in its cluster, from its labels."""

    path: ShardPath
    cell: str
    pool: str
    server: str
    """The topology server, if it is one of the cluster."""
    role: str

    @property
    def cluster(self) -> str:
        return self.path.cluster


def _location(labels: Mapping[str, str]) -> _Location:
    path_labels = (CLUSTER_LABEL, DATABASE_LABEL, TABLE_GROUP_LABEL, SHARD_LABEL)
    path = ShardPath(*(labels.get(label, "") for label in path_labels))
    cell, server = labels.get(CELL_LABEL, ""), labels.get(TOPO_SERVER_LABEL, "")
    is_known = server in _server_names(path.cluster, cell)
    return _Location(
        path, cell, labels.get(POOL_LABEL, ""), server if is_known else "", labels.get(ROLE_LABEL, "")
    )


def _server_names(cluster: str, cell: str) -> tuple[str, ...]:
    return (names.global_topo(cluster), names.local_topo(names.cell(cluster, cell)))


def _deployments(at: _Location) -> tuple[str, ...]:
    admin = (names.multiadmin(at.cluster), names.multiadmin_web(at.cluster))
    shard = (names.orchestrator(at.path, at.cell), names.repository_host(at.path))
    return (names.gateway(at.cluster, at.cell), *shard, *admin)


def _stateful_sets(at: _Location) -> tuple[str, ...]:
    return (names.pool(at.path, at.pool, at.cell), at.server)


def _services(at: _Location) -> tuple[str, ...]:
    return (
        names.gateway_service(at.cluster, at.cell),
        names.cluster_gateway(at.cluster),
        names.orchestrator_service(at.path, at.cell),
        names.pool_headless(at.path, at.pool, at.cell),
        names.repository_host(at.path),
        names.multiadmin(at.cluster),
        names.multiadmin_web(at.cluster),
        at.server,
        names.headless(at.server),
    )


def _secrets(at: _Location) -> tuple[str, ...]:
    return (
        names.connection_secret(at.cluster),
        names.superuser_secret(at.cluster),
        names.role_secret(at.cluster, at.path.database, at.role),
    )


_NAMES: Final[Mapping[Kind, Callable[[_Location], tuple[str, ...]]]] = {
    CELL: lambda at: (names.cell(at.cluster, at.cell),),
    TABLE_GROUP: lambda at: (names.table_group(at.cluster, at.path.database, at.path.table_group),),
    SHARD: lambda at: (names.shard(at.path),),
    TOPO_SERVER: lambda at: _server_names(at.cluster, at.cell),
    DEPLOYMENT: _deployments,
    STATEFUL_SET: _stateful_sets,
    SERVICE: _services,
    CONFIG_MAP: lambda at: tuple(f"{names.shard(at.path)}-{suffix}" for suffix in CONFIG_SUFFIXES),
    POD_DISRUPTION_BUDGET: lambda at: (names.disruption_budget(at.path), at.server),
    SECRET: _secrets,
}


def has_generated_name(kind: Kind, meta: ObjectMeta) -> bool:
    """Whether the operator, or a controller of Kubernetes for it, gives an object with these labels this name."""
    name, at = meta.name, _location(meta.labels)
    if kind == POD:
        in_set = any(ordinal_of(name, stem) is not None for stem in _stateful_sets(at) if stem)
        return in_set or _has_prefix(name, _deployments(at))
    if kind == REPLICA_SET:
        return _has_prefix(name, _deployments(at))
    if kind == CONTROLLER_REVISION:
        template_kind, template = (meta.labels.get(label, "") for label in TEMPLATE_LABELS)
        return _has_prefix(name, (f"{at.cluster}-{template_kind.lower()}-{template}", *_stateful_sets(at)))
    # The labels of certificates do not name their shard.
    if kind == SECRET and name.endswith(CERTIFICATE_SUFFIXES):
        return True
    return bool(name) and name in _NAMES[kind](at)


def _has_prefix(name: str, stems: Iterable[str]) -> bool:
    return any(name.startswith(f"{stem}-") for stem in stems if stem)


def is_ownerless(meta: ObjectMeta) -> bool:
    """Whether an object of this operator has no controller."""
    return meta.labels.get(MANAGED_BY_LABEL) == FIELD_MANAGER and controller_of(meta) is None


def is_ownerless_part(kind: Kind, meta: ObjectMeta, cluster: str) -> bool:
    """Whether an object without a controller belongs to the cluster of this name."""
    return is_ownerless(meta) and meta.labels.get(CLUSTER_LABEL) == cluster and has_generated_name(kind, meta)


def ownerless_members(pods: Iterable[PodView], set_name: str) -> list[PodView]:
    """Pods of a StatefulSet that have no controller."""
    return [
        pod
        for pod in pods
        if is_ownerless(pod.metadata) and ordinal_of(pod.metadata.name, set_name) is not None
    ]
