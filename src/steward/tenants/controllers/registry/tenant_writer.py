"""From rows to Tenants: renders what has changed, and writes it.

Each Tenant is rendered whole before anything of it is written, and stands for itself: one that cannot be rendered or
written takes nothing from the others. What was written is remembered by a fingerprint of its row and template, so that
a table at rest costs neither rendering nor writing.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from steward.kube.errors import AlreadyExists, BadRequest, Invalid, KubeError, RequestTooLarge
from steward.kube.objects.kinds import SECRET, Key, Manifest, Ref, ref_of
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.cache_rules import REGISTRY, TENANT_KIND
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.migration import without_former_content
from steward.tenants.errors import RenderError, TooLarge, ValuesTaken
from steward.tenants.names import values_secret
from steward.tenants.rendering.render import Rendered, render
from steward.tenants.rendering.tenant_manifest import (
    WantedTenant,
    failed_manifest,
    holds_values_of,
    identity_of,
    tenant_manifest,
    values_manifest,
)
from steward.tenants.rendering.variables import masked, variables_of
from steward.tenants.sources.rows import Rejected

log = logging.getLogger(__name__)

TOGETHER: Final = 16
"""Tenants that are written side by side: as many as keep a server busy, beside the objects of those that are there."""
NO_SECRETS_LEFT: Final = "the Tenant has no Secrets any more"
_SERVER_WORDS: Final = 300


class Settled(NamedTuple):
    """What a Tenant was made from, and what we own of it since."""

    fingerprint: bytes
    owned: object
    values: object
    """What we own of the Secret beside it."""


@dataclass
class Written:
    """What came of writing a fleet."""

    failures: list[KubeError] = field(default_factory=list)
    is_cut_short: bool = False
    """Something that it was made from has changed: the rest would be written for nothing."""


def _always() -> bool:
    return True


class FleetWriter:
    """Writes the Tenants of one registry, and remembers what it wrote."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._tenants = context.store(context.rules.every_tenant)
        self._secrets = context.store(context.rules.secret)
        self._settled: dict[Key, Settled] = {}
        self.refused: dict[str, Rejected] = {}
        """By the name of their Tenant, the rows that could not be written for a fault of their own, until they are."""
        self._looked_at = -1

    def has_drifted(self, version: int) -> bool:
        """Whether a Tenant that we wrote, or its values, is gone or is not what we wrote. Found out once for each
        version of the fleet."""
        if self._looked_at == version:
            return False
        has_drifted = any(not self._is_as_written(key, settled) for key, settled in self._settled.items())
        self._looked_at = -1 if has_drifted else version
        return has_drifted

    def _is_as_written(self, key: Key, settled: Settled) -> bool:
        return bool(self._tenants.owned(key) == settled.owned and self._owned_values(key) == settled.values)

    def _owned_values(self, key: Key) -> object:
        return self._secrets.owned(Key(key.namespace, values_secret(key.name)))

    def forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._settled.pop(key, None)

    def keep_only(self, keys: Iterable[Key]) -> None:
        """What is not wanted any more is not looked after any more."""
        wanted = set(keys)
        self.forget([key for key in self._settled if key not in wanted])
        names = {key.name for key in wanted}
        self.refused = {name: row for name, row in self.refused.items() if name in names}

    async def write(
        self, wanted: Sequence[WantedTenant], registry: ObjectMeta, is_current: Callable[[], bool] = _always
    ) -> Written:
        """New rows first: after a start every Tenant is compared once, and nobody new has to wait for that. An edit of
        the template or the registry, or its end, does not wait for a fleet of the version before it."""
        written = Written()
        pending = [each for each in wanted if not self._is_settled(each, registry)]
        pending.sort(key=lambda each: self._tenants.get(Key(registry.namespace, each.name)) is not None)
        left = _while_current(pending, is_current, written)
        await asyncio.gather(*(self._write_each(left, registry, written) for _ in range(TOGETHER)))
        return written

    async def _write_each(
        self, pending: Iterator[WantedTenant], registry: ObjectMeta, written: Written
    ) -> None:
        for each in pending:
            await self._write(each, registry, written)
            # What is as it should be awaits nothing: a fleet of that must not keep everybody else waiting.
            await asyncio.sleep(0)

    def _is_settled(self, wanted: WantedTenant, registry: ObjectMeta) -> bool:
        key = Key(registry.namespace, wanted.name)
        settled = self._settled.get(key)
        if settled is None or not wanted.template.is_repeatable:
            return False
        return settled.fingerprint == wanted.fingerprint(registry) and self._is_as_written(key, settled)

    async def _write(self, wanted: WantedTenant, registry: ObjectMeta, written: Written) -> None:
        try:
            await self._settle(wanted, registry)
        except (TooLarge, ValuesTaken) as error:
            self.refused[wanted.name] = Rejected(wanted.row.uid, str(error))
        except (Invalid, BadRequest, RequestTooLarge) as error:
            told = f"the API server refuses its Tenant: {str(error)[:_SERVER_WORDS]}"
            self.refused[wanted.name] = Rejected(wanted.row.uid, told)
        except KubeError as error:
            written.failures.append(error)
        else:
            self.refused.pop(wanted.name, None)

    async def _settle(self, wanted: WantedTenant, registry: ObjectMeta) -> None:
        key = Key(registry.namespace, wanted.name)
        # One that cannot be written is tried at the next sync, and is no drift that calls for another read at once.
        self.forget([key])
        variables = variables_of(wanted.row, registry.name, wanted.template.name)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("rendering Tenant %s", key, extra={"inputs": masked(variables)})
        try:
            rendered = render(wanted.template.prepared, variables, identity_of(wanted, registry))
        except TooLarge:
            raise
        except RenderError as error:
            failed = Apply(failed_manifest(wanted, registry, error))
            await self._carry_out((*self._former(key), failed, *_told(registry, error)), key)
        else:
            self._context.shelf.hand_over(key, rendered.payload)
            applied = Apply(tenant_manifest(wanted, registry, rendered))
            await self._carry_out((*self._former(key), applied), key)
            await self._write_values(key, rendered)
        fingerprint = wanted.fingerprint(registry)
        self._settled[key] = Settled(fingerprint, self._tenants.owned(key), self._owned_values(key))

    def _former(self, key: Key) -> Plan:
        tenant = self._tenants.get(key)
        return () if tenant is None else without_former_content(tenant)

    async def _write_values(self, key: Key, rendered: Rendered) -> None:
        tenant = self._tenants.get(key)
        if tenant is None:
            return
        ref = Ref(SECRET, Key(key.namespace, values_secret(key.name)))
        known = self._secrets.get(ref.key)
        if rendered.payload.entries:
            await self._apply_values(tenant.metadata, known, values_manifest(tenant.metadata, rendered))
        elif known is not None and holds_values_of(known.metadata, tenant.metadata):
            await self._carry_out((Delete(ref, known.metadata.uid, NO_SECRETS_LEFT),), key)

    async def _apply_values(self, tenant: ObjectMeta, known: Metadata | None, manifest: Manifest) -> None:
        """Never over a Secret of somebody else: it would be changed, and go with the Tenant."""
        key = Key(tenant.namespace, tenant.name)
        if known is None:
            known = await self._made_or_met(manifest, key)
        if known is None:
            return
        if not holds_values_of(known.metadata, tenant):
            raise ValuesTaken(known.metadata.name)
        await self._carry_out((Apply(manifest),), key)

    async def _made_or_met(self, manifest: Manifest, key: Key) -> Metadata | None:
        """Makes it, or returns what stands there."""
        try:
            await self._carry_out((Apply(manifest, only_if_absent=True),), key)
        except AlreadyExists:
            return await self._context.client.get(*ref_of(manifest), Metadata)
        return None

    async def _carry_out(self, plan: Plan, key: Key) -> None:
        await self._context.executor.execute(plan, Ref(TENANT_KIND, key))


def _told(registry: ObjectMeta, error: RenderError) -> Plan:
    ref = Ref(REGISTRY, Key(registry.namespace, registry.name))
    return (Emit(ref, reasons.TEMPLATE_RENDER_FAILED, str(error), EventType.WARNING),)


def _while_current(
    pending: Iterable[WantedTenant], is_current: Callable[[], bool], written: Written
) -> Iterator[WantedTenant]:
    for each in pending:
        if not is_current():
            written.is_cut_short = True
            return
        yield each
