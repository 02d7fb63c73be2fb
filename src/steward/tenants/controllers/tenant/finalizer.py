"""A Tenant that is being deleted: its objects go in order, and only then its finalizer. What goes wrong shows."""

from typing import NoReturn

from steward.kube.errors import KubeError
from steward.kube.objects.conditions import READY, find_condition
from steward.runtime.plan.steps import Emit, EventType, Status
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.tenants import reasons
from steward.tenants.controllers.common.document import Document
from steward.tenants.controllers.common.finalizers import let_go
from steward.tenants.controllers.tenant.deletion import WAIT_SECONDS, Departure, depart
from steward.tenants.controllers.tenant.impersonation import Rights
from steward.tenants.controllers.tenant.prune import Cleaner, Leaving
from steward.tenants.controllers.tenant.report import Reporter
from steward.tenants.labels import TENANT_DELETED, TENANT_FINALIZER
from steward.tenants.status.tenant import Trouble, leaving, troubled


class DeletionFailed(KubeError):
    """Some objects could not be deleted; the queue tries again at its own pace."""


class Leaver:
    def __init__(self, reporter: Reporter, cleaner: Cleaner, rights: Rights) -> None:
        self._reporter = reporter
        self._executor = reporter.executor
        self._cleaner = cleaner
        self._rights = rights

    async def leave(self, document: Document) -> Result:
        if not document.is_held:
            return DONE
        if not self._is_known_to_leave(document):
            deleting = Emit(document.ref, reasons.TENANT_DELETING, "its objects are being deleted")
            await self._executor.execute((deleting,), document.ref)
        executor, _ = self._rights.of(document)
        why = Leaving(document.ref, document.owner, executor, TENANT_DELETED)
        departure = await depart(self._cleaner, document, why)
        if not departure.is_over:
            return await self._linger(document, departure)
        gone = Emit(document.ref, reasons.TENANT_DELETED, "its objects are gone, or kept as they say")
        plan = (gone, *let_go(document.ref, document.metadata, TENANT_FINALIZER))
        await self._executor.execute(plan, document.ref)
        return DONE

    def _is_known_to_leave(self, document: Document) -> bool:
        """Whether the status says so already: then it was told, and is no news at every try."""
        told = find_condition(self._reporter.before(document).conditions, READY)
        return told is not None and told.reason in (reasons.TENANT_DELETING, reasons.TENANT_DELETION_FAILED)

    async def _linger(self, document: Document, departure: Departure) -> Result:
        """That it leaves is told at once, and what fails; what merely takes its time, only after a while."""
        if departure.problems:
            await self._fail(document, departure.message)
        status = leaving(self._reporter.before(document), departure.message)
        is_known = self._is_known_to_leave(document)
        if not is_known or not self._reporter.seconds_to_wait(document.ref, status):
            await self._executor.execute((Status(document.ref, status),), document.ref)
        return RequeueAfter(WAIT_SECONDS)

    async def _fail(self, document: Document, message: str) -> NoReturn:
        failed = Emit(document.ref, reasons.TENANT_DELETION_FAILED, message, EventType.WARNING)
        trouble = Trouble(reasons.TENANT_DELETION_FAILED, message)
        status = Status(document.ref, troubled(self._reporter.before(document), trouble))
        await self._executor.execute((failed, status), document.ref)
        raise DeletionFailed(message)
