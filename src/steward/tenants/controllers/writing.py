"""From rows to Tenants: renders what has changed, and writes it.

Each Tenant is rendered whole before anything of it is written, and stands for itself: one that cannot be rendered or
written takes nothing from the others. What was written is remembered by a fingerprint of its row and template, so that
a table at rest costs neither rendering nor writing.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from steward.kube.errors import BadRequest, Invalid, KubeError, RequestTooLarge
from steward.kube.kinds import SECRET, Key, Ref
from steward.kube.meta import ObjectMeta
from steward.kube.patches import MergePatch
from steward.runtime.plan import Apply, Delete, Emit, EventType, Patch, Plan
from steward.tenants import marks, reasons
from steward.tenants.controllers.ground import Ground
from steward.tenants.errors import RenderError, TooLarge
from steward.tenants.names import values_secret
from steward.tenants.render import Rendered, render
from steward.tenants.rows.row import Rejected
from steward.tenants.rules import REGISTRY, TENANT_KIND
from steward.tenants.variables import variables_of
from steward.tenants.views import Tenant
from steward.tenants.wanted import (
    WantedTenant,
    failed_manifest,
    identity_of,
    tenant_manifest,
    values_manifest,
)

TOGETHER: Final = 32
NO_SECRETS_LEFT: Final = "the Tenant has no Secrets any more"
_SERVER_WORDS: Final = 300


class Settled(NamedTuple):
    """What a Tenant was made from, and what we own of it since."""

    fingerprint: bytes
    owned: object


@dataclass
class Written:
    """What came of writing a fleet."""

    rejected: list[Rejected] = field(default_factory=list)
    failures: list[KubeError] = field(default_factory=list)


class FleetWriter:
    """Writes the Tenants of one registry, and remembers what it wrote."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._tenants = ground.store(ground.rules.every_tenant)
        self._secrets = ground.store(ground.rules.secret)
        self._settled: dict[Key, Settled] = {}

    def has_drifted(self) -> bool:
        """Whether a Tenant that we wrote is gone, or is not what we wrote."""
        return any(self._tenants.owned(key) != settled.owned for key, settled in self._settled.items())

    def forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._settled.pop(key, None)

    def keep_only(self, keys: Iterable[Key]) -> None:
        """What is not wanted any more is not looked after any more."""
        wanted = set(keys)
        self.forget([key for key in self._settled if key not in wanted])

    async def write(self, wanted: Sequence[WantedTenant], registry: ObjectMeta) -> Written:
        written = Written()
        pending = [each for each in wanted if not self._is_settled(each, registry)]
        for start in range(0, len(pending), TOGETHER):
            batch = pending[start : start + TOGETHER]
            await asyncio.gather(*(self._write(each, registry, written) for each in batch))
        return written

    def _is_settled(self, wanted: WantedTenant, registry: ObjectMeta) -> bool:
        key = Key(registry.namespace, wanted.name)
        settled = self._settled.get(key)
        if settled is None or not wanted.template.is_repeatable:
            return False
        if settled.fingerprint != wanted.fingerprint(registry):
            return False
        return bool(self._tenants.owned(key) == settled.owned)

    async def _write(self, wanted: WantedTenant, registry: ObjectMeta, written: Written) -> None:
        try:
            await self._settle(wanted, registry)
        except TooLarge as error:
            written.rejected.append(Rejected(wanted.row.uid, str(error)))
        except (Invalid, BadRequest, RequestTooLarge) as error:
            told = f"the API server refuses its Tenant: {str(error)[:_SERVER_WORDS]}"
            written.rejected.append(Rejected(wanted.row.uid, told))
        except KubeError as error:
            written.failures.append(error)

    async def _settle(self, wanted: WantedTenant, registry: ObjectMeta) -> None:
        key = Key(registry.namespace, wanted.name)
        variables = variables_of(wanted.row, registry.name, wanted.template.name)
        try:
            rendered = render(wanted.template.prepared, variables, identity_of(wanted, registry))
        except TooLarge:
            raise
        except RenderError as error:
            await self._carry_out(
                (Apply(failed_manifest(wanted, registry, error)), *_told(registry, error)), key
            )
        else:
            await self._carry_out((Apply(tenant_manifest(wanted, registry, rendered)),), key)
            await self._write_values(key, rendered)
        await self._drop_former_marks(key)
        self._settled[key] = Settled(wanted.fingerprint(registry), self._tenants.owned(key))

    async def _write_values(self, key: Key, rendered: Rendered) -> None:
        tenant = self._tenants.get(key)
        if tenant is None:
            return
        if rendered.payload.entries:
            await self._carry_out((Apply(values_manifest(tenant.metadata, rendered)),), key)
        elif left := self._secrets.get(Key(key.namespace, values_secret(key.name))):
            ref = Ref(SECRET, Key(key.namespace, left.metadata.name))
            await self._carry_out((Delete(ref, left.metadata.uid, NO_SECRETS_LEFT),), key)

    async def _drop_former_marks(self, key: Key) -> None:
        """The operator before us kept row values in annotations, and an owner reference that outwits the guard."""
        tenant = self._tenants.get(key)
        patch = None if tenant is None else without_former_marks(tenant)
        if patch is not None:
            await self._carry_out((Patch(Ref(TENANT_KIND, key), patch),), key)

    async def _carry_out(self, plan: Plan, key: Key) -> None:
        await self._ground.carrier.carry_out(plan, Ref(TENANT_KIND, key))


def without_former_marks(tenant: Tenant) -> MergePatch | None:
    """What takes those away that are there; on that version only, since a list is replaced whole."""
    meta = tenant.metadata
    annotations = dict.fromkeys(name for name in marks.FORMER_ROW_VALUES if name in meta.annotations)
    others = [owner for owner in meta.owner_references if owner.kind != REGISTRY.kind]
    changes: dict[str, Any] = {"annotations": annotations} if annotations else {}
    if len(others) < len(meta.owner_references):
        changes["ownerReferences"] = msgspec.to_builtins(others)
    return MergePatch({"metadata": changes | {"resourceVersion": meta.resource_version}}) if changes else None


def _told(registry: ObjectMeta, error: RenderError) -> Plan:
    ref = Ref(REGISTRY, Key(registry.namespace, registry.name))
    return (Emit(ref, reasons.TEMPLATE_RENDER_FAILED, str(error), EventType.WARNING),)
