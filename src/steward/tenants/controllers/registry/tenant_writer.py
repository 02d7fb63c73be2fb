"""Renders rows to Tenants and writes those that have changed.

Each Tenant is rendered completely before anything of it is written, and independently: one that cannot be rendered or
written does not affect the others. A fingerprint of row and template is kept for each written Tenant, so an unchanged
table costs neither rendering nor writing.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from steward.kube.errors import AlreadyExists, BadRequest, Invalid, KubeError, RequestTooLarge
from steward.kube.objects.kinds import SECRET, Key, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, Metadata, ObjectMeta
from steward.runtime.plan.executor import PlanResult
from steward.runtime.plan.steps import Apply, Delete, Emit, EventType, Plan
from steward.tenants import reasons
from steward.tenants.cache_rules import REGISTRY, TENANT_KIND
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.migration import remove_content_steps
from steward.tenants.controllers.common.tenant_backlog import TenantBacklog
from steward.tenants.controllers.registry.earlier_renderings import read_earlier
from steward.tenants.controllers.registry.first_rows import FirstRows
from steward.tenants.controllers.registry.recorded_tenants import RecordedTenants
from steward.tenants.errors import RenderError, TooLarge, UnrecordedTenants, ValuesSecretConflict
from steward.tenants.names import values_secret
from steward.tenants.rendering.render import RenderedTenant, render
from steward.tenants.rendering.tenant_manifest import (
    DesiredTenant,
    is_values_secret,
    render_failure_manifest,
    tenant_identity,
    tenant_manifest,
    values_manifest,
)
from steward.tenants.rendering.variables import mask_values, row_variables
from steward.tenants.sources.rows import RowRejection

log = logging.getLogger(__name__)

MAX_CONCURRENT_WRITES: Final = 16
"""Tenants that are written concurrently: enough to use the API server, while it also serves the Tenant controller."""
RECORD_SECONDS: Final = 10.0
"""For how long the Tenants without a status may all stay without one. A first status is seldom later than 3 s."""
NO_SECRETS: Final = "the Tenant has no Secrets any more"
_MESSAGE_LENGTH: Final = 300


class WrittenTenant(NamedTuple):
    """The fingerprint of a written Tenant, and the fields that the operator owns since."""

    fingerprint: bytes
    owned: object
    values: object
    """The fields that the operator owns of the values Secret."""


@dataclass
class WriteResult:
    """The result of writing the Tenants of a registry."""

    failures: list[KubeError | UnrecordedTenants] = field(default_factory=list)
    is_aborted: bool = False
    """The registry or a template has changed: the remaining Tenants would be outdated."""


class WritePacing(NamedTuple):
    """What the writes of Tenants wait for, so that new rows are served soon and no object is forgotten."""

    backlog: TenantBacklog
    first_rows: FirstRows
    recorded: RecordedTenants


def _always() -> bool:
    return True


class TenantWriter:
    """Writes the Tenants of one registry, and keeps the fingerprints of those it wrote."""

    def __init__(self, context: TenantsContext, pacing: WritePacing | None = None) -> None:
        self._context = context
        self._pacing = pacing
        self._rendering = asyncio.Lock()
        self._tenants = context.store(context.rules.every_tenant)
        self._secrets = context.store(context.rules.secret)
        self._written: dict[Key, WrittenTenant] = {}
        self.rejected_rows: dict[str, RowRejection] = {}
        """By the name of its Tenant: each row that the API server rejects or that is too large, until it is written."""
        self._checked_version = -1

    def has_drifted(self, version: int) -> bool:
        """Whether a written Tenant, or its values, was deleted or changed. Checked once for each version of the
        fleet."""
        if self._checked_version == version:
            return False
        has_drifted = any(not self._is_as_written(key, known) for key, known in self._written.items())
        self._checked_version = -1 if has_drifted else version
        return has_drifted

    def _is_as_written(self, key: Key, known: WrittenTenant) -> bool:
        return bool(
            self._tenants.owned_fields(key) == known.owned and self._owned_values(key) == known.values
        )

    def _owned_values(self, key: Key) -> object:
        return self._secrets.owned_fields(Key(key.namespace, values_secret(key.name)))

    def forget(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self._written.pop(key, None)

    def keep_only(self, keys: Iterable[Key]) -> None:
        """Forgets the Tenants that are no longer desired."""
        kept = set(keys)
        self.forget([key for key in self._written if key not in kept])
        names = {key.name for key in kept}
        self.rejected_rows = {name: row for name, row in self.rejected_rows.items() if name in names}

    async def write(
        self, desired: Sequence[DesiredTenant], registry: ObjectMeta, is_current: Callable[[], bool] = _always
    ) -> WriteResult:
        """New rows first: after a start every Tenant is compared once, and new ones do not wait for that, nor until
        the values of all others are cached. Tenants whose objects are not recorded yet come last. Stops when the
        template or the registry is edited or deleted, so the edit does not wait for a fleet of the previous version."""
        result = WriteResult()
        pending = [each for each in desired if not self._is_up_to_date(each, registry)]
        new, existing = self._new_and_existing(pending, registry)
        await self._write_group(_while_current(new, is_current, result), registry, result)
        if self._pacing is not None:
            self._pacing.first_rows.finish(Key(registry.namespace, registry.name))
        if existing:
            await self._secrets.wait_synced()
        await self._write_existing(existing, registry, is_current, result)
        return result

    async def _write_existing(
        self,
        existing: Sequence[DesiredTenant],
        registry: ObjectMeta,
        is_current: Callable[[], bool],
        result: WriteResult,
    ) -> None:
        while existing and not result.is_aborted:
            recorded, existing = self._recorded_and_others(existing, registry)
            await self._write_group(_while_current(recorded, is_current, result), registry, result)
            if not existing:
                return
            if not is_current():
                result.is_aborted = True
            elif not await self._wait_for_any(existing, registry):
                result.failures.append(UnrecordedTenants([each.name for each in existing]))
                return

    def _recorded_and_others(
        self, existing: Sequence[DesiredTenant], registry: ObjectMeta
    ) -> tuple[Sequence[DesiredTenant], Sequence[DesiredTenant]]:
        if self._pacing is None:
            return existing, ()
        recorded = [each for each in existing if Key(registry.namespace, each.name) in self._pacing.recorded]
        names = {each.name for each in recorded}
        return recorded, [each for each in existing if each.name not in names]

    async def _wait_for_any(self, unrecorded: Sequence[DesiredTenant], registry: ObjectMeta) -> bool:
        if self._pacing is None:
            return True
        keys = [Key(registry.namespace, each.name) for each in unrecorded]
        return await self._pacing.recorded.wait_for_any(keys, RECORD_SECONDS)

    async def _write_group(
        self, group: Iterator[DesiredTenant], registry: ObjectMeta, result: WriteResult
    ) -> None:
        await asyncio.gather(
            *(self._write_all(group, registry, result) for _ in range(MAX_CONCURRENT_WRITES))
        )

    def _new_and_existing(
        self, pending: Sequence[DesiredTenant], registry: ObjectMeta
    ) -> tuple[list[DesiredTenant], list[DesiredTenant]]:
        existing = {
            each.name for each in pending if self._tenants.get(Key(registry.namespace, each.name)) is not None
        }
        new = [each for each in pending if each.name not in existing]
        return new, [each for each in pending if each.name in existing]

    async def _write_all(
        self, pending: Iterator[DesiredTenant], registry: ObjectMeta, result: WriteResult
    ) -> None:
        for each in pending:
            await self._write_within_backlog(each, registry, result)

    async def _write_within_backlog(
        self, desired: DesiredTenant, registry: ObjectMeta, result: WriteResult
    ) -> None:
        key = Key(registry.namespace, desired.name)
        if self._pacing is None or self._tenants.get(key) is not None:
            await self._write(desired, registry, result)
            return
        backlog = self._pacing.backlog
        backlog.add(key)
        await self._write(desired, registry, result)
        if self._tenants.get(key) is None:
            backlog.remove(key)  # it could not be created
        await backlog.wait_for_room()

    def _is_up_to_date(self, desired: DesiredTenant, registry: ObjectMeta) -> bool:
        key = Key(registry.namespace, desired.name)
        known = self._written.get(key)
        if known is None or not desired.template.is_repeatable:
            return False
        return known.fingerprint == desired.fingerprint(registry) and self._is_as_written(key, known)

    async def _write(self, desired: DesiredTenant, registry: ObjectMeta, result: WriteResult) -> None:
        try:
            await self._render_and_write(desired, registry)
        except (TooLarge, ValuesSecretConflict) as error:
            self.rejected_rows[desired.name] = RowRejection(desired.row.uid, str(error))
        except (Invalid, BadRequest, RequestTooLarge) as error:
            message = f"the API server rejects its Tenant: {str(error)[:_MESSAGE_LENGTH]}"
            self.rejected_rows[desired.name] = RowRejection(desired.row.uid, message)
        except KubeError as error:
            result.failures.append(error)
        except Exception as error:
            # A mistake of this operator that one row exposes must not keep the other rows from becoming Tenants.
            self.rejected_rows[desired.name] = RowRejection(desired.row.uid, describe_mistake(desired, error))
        else:
            self.rejected_rows.pop(desired.name, None)

    async def _render_and_write(self, desired: DesiredTenant, registry: ObjectMeta) -> None:
        key = Key(registry.namespace, desired.name)
        # A Tenant that cannot be written is retried at the next sync; it must not count as drift, which reads at once.
        self.forget([key])
        variables = row_variables(desired.row, registry.name, desired.template.name)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("rendering Tenant %s", key, extra={"inputs": mask_values(variables)})
        earlier = await read_earlier(self._context, key, desired.template)
        identity = tenant_identity(desired, registry)
        async with self._rendering:
            # An unchanged Tenant awaits nothing else: all writers together must not block the event loop for more than
            # one of them at a time.
            await asyncio.sleep(0)
        try:
            rendered = render(desired.template.prepared, variables, identity, earlier)
        except TooLarge:
            raise
        except RenderError as error:
            failed = Apply(render_failure_manifest(desired, registry, error))
            event = _render_failure_event(registry, desired, error)
            owned = await self._applied((*self._migration_steps(key), failed, *event), key)
            values = self._owned_values(key)
        else:
            self._context.documents.add_payload(key, rendered.payload)
            applied = Apply(tenant_manifest(desired, registry, rendered))
            owned = await self._applied((*self._migration_steps(key), applied), key)
            values = await self._write_values(key, rendered)
        self._written[key] = WrittenTenant(desired.fingerprint(registry), owned, values)

    def _migration_steps(self, key: Key) -> Plan:
        tenant = self._tenants.get(key)
        return () if tenant is None else remove_content_steps(tenant)

    async def _write_values(self, key: Key, rendered: RenderedTenant) -> object:
        """The fields that we own of the values Secret afterwards."""
        tenant = self._tenants.get(key)
        if tenant is None:
            return self._owned_values(key)
        ref = Ref(SECRET, Key(key.namespace, values_secret(key.name)))
        known = self._secrets.get(ref.key)
        if rendered.payload.entries:
            return await self._apply_values(
                tenant.metadata, known, values_manifest(tenant.metadata, rendered)
            )
        if known is not None and is_values_secret(known.metadata, tenant.metadata):
            await self._execute((Delete(ref, known.metadata.uid, NO_SECRETS),), key)
        return None

    async def _apply_values(
        self, tenant: ObjectMeta, known: HasMetadata | None, manifest: Manifest
    ) -> object:
        """Never writes to a foreign Secret: it would be changed, and deleted with the Tenant."""
        key = Key(tenant.namespace, tenant.name)
        if known is None:
            try:
                return await self._applied((Apply(manifest, only_if_absent=True),), key)
            except AlreadyExists:
                known = await self._context.client.get(*ref_of(manifest), Metadata)
        if not is_values_secret(known.metadata, tenant):
            raise ValuesSecretConflict(known.metadata.name)
        return await self._applied((Apply(manifest),), key)

    async def _applied(self, plan: Plan, key: Key) -> object:
        """The fields that we own after the last apply of the plan, as the API server answered. Not what the cache holds
        then: an edit of another client may be in the watch before the answer arrives, and would never be drift."""
        executed = await self._execute(plan, key)
        # None in a preview, which writes nothing.
        return next((each.owned for each in reversed(executed.steps) if isinstance(each.step, Apply)), None)

    async def _execute(self, plan: Plan, key: Key) -> PlanResult:
        return await self._context.executor.execute(plan, Ref(TENANT_KIND, key))


def describe_mistake(desired: DesiredTenant, error: Exception) -> str:
    """Logs where an unexpected error occurred, and describes it. Without its message, which may quote the row."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("Tenant %s cannot be written: %s\n%s", desired.name, type(error).__name__, frames)
    return f"its Tenant cannot be written ({type(error).__name__}): the operator's log has the details"


def _render_failure_event(registry: ObjectMeta, desired: DesiredTenant, error: RenderError) -> Plan:
    ref = Ref(REGISTRY, Key(registry.namespace, registry.name))
    message = f"Tenant {desired.name}: TenantTemplate {desired.template.name}, {error}"
    return (Emit(ref, reasons.TEMPLATE_RENDER_FAILED, message, EventType.WARNING),)


def _while_current(
    pending: Iterable[DesiredTenant], is_current: Callable[[], bool], result: WriteResult
) -> Iterator[DesiredTenant]:
    for each in pending:
        if not is_current():
            result.is_aborted = True
            return
        yield each
