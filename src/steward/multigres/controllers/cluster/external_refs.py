"""Looks for what a cluster names and does not bring itself, and reads the password that applications get."""

from msgspec import UNSET

from steward.kube.objects.kinds import Key
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.cluster.user_secrets import REMEMBER_SECONDS, UserSecrets
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.objects.secrets import PASSWORD_KEY
from steward.multigres.resolution.external_refs import (
    Missing,
    missing_classes,
    missing_secrets,
    secrets,
    storage_classes,
)
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Plan, Requeue


class References:
    def __init__(self, context: ControllerContext) -> None:
        self._classes = context.store(context.rules.storage_class)
        self._secrets = UserSecrets(context)

    async def missing(
        self, cluster: ClusterView, spec: MultigresClusterSpec, resolved: ResolvedCluster
    ) -> tuple[Missing, ...]:
        namespace = cluster.metadata.namespace
        named = secrets(spec, resolved)
        absent = {
            name: field
            for name, field in named.items()
            if not await self._secrets.exists(Key(namespace, name))
        }
        found = [
            *missing_classes(storage_classes(resolved), self._classes.list()),
            *missing_secrets(absent),
            *await self._unusable_password(namespace, spec, absent),
        ]
        return tuple(found)

    async def _unusable_password(
        self, namespace: str, spec: MultigresClusterSpec, absent: dict[str, str]
    ) -> list[Missing]:
        reference = spec.postgres_password_secret_ref
        if reference is UNSET or reference.name in absent:
            return []
        if await self.password(namespace, "", spec) is not None:
            return []
        key = given(reference.key, PASSWORD_KEY)
        told = f"spec.postgresPasswordSecretRef.key: Secret {reference.name} has no text under the key {key}"
        return [Missing(reasons.SECRET_NOT_FOUND, told)]

    async def password(self, namespace: str, cluster: str, spec: MultigresClusterSpec) -> str | None:
        """The superuser's password, once there is one: the user's own, or the one that was made for the cluster."""
        reference = spec.postgres_password_secret_ref
        name = names.password_secret(cluster) if reference is UNSET else reference.name
        key = PASSWORD_KEY if reference is UNSET else given(reference.key, PASSWORD_KEY)
        found = await self._secrets.value(Key(namespace, name), key)
        try:
            return None if found is None else found.decode()
        except UnicodeDecodeError:
            return None

    def look_again(self, spec: MultigresClusterSpec, resolved: ResolvedCluster) -> Plan:
        """No event tells of a Secret that is not ours."""
        return (Requeue(REMEMBER_SECONDS),) if secrets(spec, resolved) else ()
