"""Everything that the builders of a shard's objects need: spec, labels, and the names of Secrets that pods mount.

Derived from the Shard alone, without reading other objects.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.shard import ShardSpec
from steward.multigres.api.unset import or_default
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    CLUSTER_LABEL,
    DATABASE_LABEL,
    NODE_REGION_LABEL,
    NODE_ZONE_LABEL,
    SHARD_LABEL,
    TABLE_GROUP_LABEL,
    Owner,
    cell_location_labels,
    component_labels,
)
from steward.multigres.objects.secrets import PASSWORD_KEY
from steward.multigres.objects.versions import POSTGRES_CONFIG_COPY, version_of
from steward.multigres.resolution import defaults
from steward.multigres.resolution.postgres.settings import inline_settings, restart_digest
from steward.multigres.views import ShardView

CONFIG_ANNOTATION = "multigres.com/postgres-config-hash"
"""Of pods: they are replaced when it changes. Of the ConfigMap of settings: what pods have, or will have; a process
that starts later cannot derive it from the settings, because it also depends on what Postgres has said about them."""
RESTART_PREFIX = "restart.multigres.com/"
"""Of annotations of a Shard, one for each pool: a new value restarts the servers of the pool as a change of its spec
does. On the Shard and not on the StatefulSet, which is created again when its volumes grow: without the annotation its
servers would restart once more."""


class ShardInputs(NamedTuple):
    """Inputs of all builders of one shard. `certificates` names the Secret with ca.crt, tls.crt and tls.key."""

    owner: Owner
    path: ShardPath
    spec: ShardSpec
    password_secret: str
    password_key: str
    certificates: str
    config_digest: str = ""
    certificate_renewals: int = 0
    postgres_config: str | None = None
    """The settings that servers read; None if there are none, or if they are not known yet."""
    repository_claims: frozenset[str] = frozenset()
    """The claims of the shard's backup repository that exist."""
    restarts: Mapping[str, str] = MappingProxyType({})
    """The last restart that a user has asked for, by pool."""

    @property
    def version(self) -> int:
        return version_of(self.spec.objects_version)

    @property
    def mounts_postgres_config(self) -> bool:
        """Also without settings: servers must not restart for the first one, unless Postgres needs that."""
        return self.spec.postgres_config_ref is not UNSET or copies_postgres_config(self.spec)

    @property
    def postgres_config_copy(self) -> str | None:
        """The content of the ConfigMap that servers mount; None if there is none. Empty without settings: pods wait
        for a ConfigMap that is missing, so that none starts without the settings of the others."""
        if not copies_postgres_config(self.spec):
            return None
        return self.postgres_config or (None if self._waits_for_config else "")

    @property
    def _waits_for_config(self) -> bool:
        return self.spec.postgres_config_ref is not UNSET and self.postgres_config is None

    def location_labels(self) -> dict[str, str]:
        return {
            DATABASE_LABEL: self.path.database,
            TABLE_GROUP_LABEL: self.path.table_group,
            SHARD_LABEL: self.path.shard,
        }

    def component_labels(self, component: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return component_labels(self.path.cluster, component, {**self.location_labels(), **(more or {})})

    def cell_labels(self, component: str, cell: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        nodes = self.node_selector(cell)
        location = cell_location_labels(
            cell, nodes.get(NODE_ZONE_LABEL, ""), nodes.get(NODE_REGION_LABEL, "")
        )
        return self.component_labels(component, {**location, **(more or {})})

    def node_selector(self, cell: str) -> dict[str, str]:
        """Labels of the nodes on which pods of a cell run."""
        return or_default(self.spec.cell_topology_labels, {}).get(cell, {})

    def object_name(self, suffix: str) -> str:
        return f"{self.owner.name}-{suffix}"


def copies_postgres_config(spec: ShardSpec) -> bool:
    """Whether pods mount the operator's copy of the user's ConfigMap; older pods mount the ConfigMap itself."""
    return version_of(spec.objects_version) >= POSTGRES_CONFIG_COPY


def shard_inputs(
    shard: ShardView,
    config_digest: str = "",
    postgres_config: str | None = None,
    repository_claims: frozenset[str] = frozenset(),
) -> ShardInputs:
    """`config_digest` is the hash of the Postgres settings: pods are replaced when it changes."""
    meta = shard.metadata
    secret, key = _password_key(shard)
    return ShardInputs(
        owner=Owner("Shard", meta.namespace, meta.name, meta.uid),
        path=shard_path(shard),
        spec=shard.spec,
        password_secret=secret,
        password_key=key,
        certificates=certificate_secret(shard),
        config_digest=config_digest,
        certificate_renewals=or_default(shard.status.backup_certificate_renewals, 0),
        postgres_config=postgres_config,
        repository_claims=repository_claims,
        restarts=requested_restarts(shard),
    )


def offline_inputs(shard: ShardView) -> ShardInputs:
    """The inputs without a decision about settings, for previews. A ConfigMap is not read here."""
    text = _inline_config(shard)
    return shard_inputs(shard, restart_digest(text), text)


def requested_restarts(shard: ShardView) -> dict[str, str]:
    """When each pool was last asked to restart."""
    annotations = shard.metadata.annotations
    return {
        name.removeprefix(RESTART_PREFIX): value
        for name, value in annotations.items()
        if name.startswith(RESTART_PREFIX) and value
    }


def _inline_config(shard: ShardView) -> str | None:
    if shard.spec.postgres_config_ref is not UNSET or not copies_postgres_config(shard.spec):
        return None
    return inline_settings(shard.spec.postgres) or None


def shard_path(shard: ShardView) -> ShardPath:
    labels = shard.metadata.labels
    return ShardPath(
        labels.get(CLUSTER_LABEL, ""),
        or_default(shard.spec.database_name, labels.get(DATABASE_LABEL, "")),
        or_default(shard.spec.table_group_name, labels.get(TABLE_GROUP_LABEL, "")),
        shard.spec.shard_name,
    )


def certificate_secret(shard: ShardView) -> str:
    """The Secret with ca.crt, tls.crt and tls.key: the one that the user names, or the operator's own."""
    backup = or_default(shard.spec.backup, defaults.BACKUP)
    if backup.pgbackrest_tls is UNSET:
        return f"{shard.metadata.name}-pgbackrest-tls"
    return backup.pgbackrest_tls.secret_name


def _password_key(shard: ShardView) -> tuple[str, str]:
    """Name and key of the Secret with the superuser's password: the user's, or the operator's own."""
    reference = shard.spec.postgres_password_secret_ref
    if reference is UNSET:
        return names.password_secret(shard.metadata.labels.get(CLUSTER_LABEL, "")), PASSWORD_KEY
    return reference.name, or_default(reference.key, PASSWORD_KEY)
