"""Checks the Secrets and StorageClasses that a cluster references, and reads the superuser password."""

from msgspec import UNSET

from steward.kube.objects.kinds import Key
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.user_secrets import CACHED_SECONDS, UserSecrets
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.objects.secrets import PASSWORD_KEY
from steward.multigres.resolution.external_refs import (
    MissingReference,
    missing_secrets,
    missing_storage_classes,
    referenced_secrets,
    referenced_storage_classes,
)
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Plan, Requeue


class ExternalReferences:
    def __init__(self, context: MultigresContext) -> None:
        self._classes = context.store(context.rules.storage_class)
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

    async def password(self, namespace: str, cluster: str, spec: MultigresClusterSpec) -> str | None:
        """The superuser's password, if it exists: from the user's Secret, or the one that the operator created."""
        reference = spec.postgres_password_secret_ref
        name = names.password_secret(cluster) if reference is UNSET else reference.name
        key = PASSWORD_KEY if reference is UNSET else or_default(reference.key, PASSWORD_KEY)
        value = await self._secrets.value(Key(namespace, name), key)
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            return None

    def requeue_steps(self, spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Plan:
        """Foreign Secrets are not watched: they are read again after some time."""
        return (Requeue(CACHED_SECONDS),) if referenced_secrets(spec, resolved) else ()
