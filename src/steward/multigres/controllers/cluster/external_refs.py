"""Checks the Secrets, ConfigMaps and StorageClasses that a cluster references, and reads the superuser password."""

from typing import Any

from msgspec import UNSET

from steward.kube.bounded_cache import LruCache
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.observability import Observability
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.user_secrets import CACHED_SECONDS, UserSecrets
from steward.multigres.objects.pod_spec import SAMPLING_KEY
from steward.multigres.objects.secrets import PASSWORD_KEY, USER_KEY
from steward.multigres.resolution import defaults
from steward.multigres.resolution.external_refs import (
    MissingReference,
    missing_secrets,
    missing_storage_classes,
    referenced_secrets,
    referenced_storage_classes,
)
from steward.multigres.resolution.postgres.roles import has_given_passwords
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Plan, Requeue

CONFIG_MAPS_CACHED = 1000


class ExternalReferences:
    def __init__(self, context: MultigresContext) -> None:
        self._classes = context.store(context.rules.storage_class)
        self._config_maps = context.store(context.rules.config_map)
        self._client = context.client
        self._keys: LruCache[tuple[Key, str, str], bool] = LruCache(CONFIG_MAPS_CACHED)
        self._secrets = UserSecrets(context)

    async def missing(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> tuple[MissingReference, ...]:
        namespace = cluster.metadata.namespace
        named = referenced_secrets(spec, resolved)
        absent = {
            name: field
            for name, field in named.items()
            if not await self._secrets.exists(Key(namespace, name))
        }
        missing = [
            *missing_storage_classes(referenced_storage_classes(resolved), self._classes.list()),
            *missing_secrets(absent),
            *await self._unusable_password(namespace, spec, absent),
            *await self._missing_sampling_rules(namespace, spec),
        ]
        return tuple(missing)

    async def _unusable_password(
        self, namespace: str, spec: MultigresClusterSpec, absent: dict[str, str]
    ) -> list[MissingReference]:
        reference = spec.postgres_password_secret_ref
        if reference is UNSET or reference.name in absent:
            return []
        if await self.password(namespace, "", spec) is not None:
            return []
        key = or_default(reference.key, PASSWORD_KEY)
        message = (
            f"spec.postgresPasswordSecretRef.key: Secret {reference.name} has no text under the key {key}"
        )
        return [MissingReference(reasons.SECRET_NOT_FOUND, message)]

    async def _missing_sampling_rules(
        self, namespace: str, spec: MultigresClusterSpec
    ) -> list[MissingReference]:
        """Pods that mount them do not start without them."""
        reference = or_default(spec.observability, Observability()).sampling_config_ref
        if reference is UNSET:
            return []
        key = or_default(reference.key, SAMPLING_KEY)
        if await self._has_key(Key(namespace, reference.name), key):
            return []
        field = "spec.observability.samplingConfigRef"
        message = f"{field}: ConfigMap {reference.name} with the key {key} does not exist; create it"
        return [MissingReference(reasons.CONFIG_MAP_NOT_FOUND, message)]

    async def _has_key(self, config_map: Key, key: str) -> bool:
        """The cache has a hash of the data: the ConfigMap is read again when that changes."""
        live = self._config_maps.get(config_map)
        version = (config_map, key, "" if live is None else live.data_hash)
        known = self._keys.get(version)
        if live is None or known is not None:
            return bool(known)
        try:
            found: dict[str, Any] = await self._client.get(CONFIG_MAP, config_map)
        except NotFound:
            return False
        has_key = key in (found.get("data") or {})
        self._keys.set(version, has_key)
        return has_key

    async def password(self, namespace: str, cluster: str, spec: MultigresClusterSpec) -> str | None:
        """The superuser's password, if it exists: from the user's Secret, or the one that the operator created."""
        reference = spec.postgres_password_secret_ref
        name = names.password_secret(cluster) if reference is UNSET else reference.name
        key = PASSWORD_KEY if reference is UNSET else or_default(reference.key, PASSWORD_KEY)
        return await self.text(Key(namespace, name), key)

    async def text(self, secret: Key, key: str) -> str | None:
        """The text under a key of a Secret; None if there is none."""
        value = await self._secrets.value(secret, key)
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            return None

    async def shard_password(self, namespace: str, shard: str) -> str | None:
        """The one that the Go operator keeps for the shard of this name."""
        secret = Key(namespace, names.shard_password_secret(shard))
        value = await self._secrets.value(secret, PASSWORD_KEY)
        return None if value is None else value.decode(errors="replace")

    async def published_password(self, namespace: str, cluster: str) -> str | None:
        """The superuser's, in a Secret of its own or in the one that applications mount."""
        own = Key(namespace, names.superuser_secret(cluster))
        if self._secrets.is_managed(own):
            return await self.text(own, PASSWORD_KEY)
        account = await self.published_account(namespace, cluster)
        return account[1] if account is not None and account[0] == defaults.SUPERUSER else None

    async def published_account(self, namespace: str, cluster: str) -> tuple[str, str] | None:
        """User and password in the Secret that applications mount."""
        secret = Key(namespace, names.connection_secret(cluster))
        password = await self.text(secret, PASSWORD_KEY)
        if password is None:
            return None
        return await self.text(secret, USER_KEY) or defaults.SUPERUSER, password

    def requeue_steps(self, spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Plan:
        """Foreign Secrets are not watched, nor ConfigMaps for clusters: they are read again after some time."""
        has_rules = or_default(spec.observability, Observability()).sampling_config_ref is not UNSET
        is_read_again = has_rules or referenced_secrets(spec, resolved) or has_given_passwords(spec)
        return (Requeue(CACHED_SECONDS),) if is_read_again else ()
