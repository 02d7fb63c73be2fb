"""With whose rights the objects of a Tenant are applied and deleted: the template's account, or our own."""

from steward.kube.client.client import Client
from steward.runtime.plan.executor import PlanExecutor
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.common.document import Document
from steward.tenants.objects.permissions import account_of


class Rights:
    def __init__(self, context: ControllerContext) -> None:
        self._executor = context.executor
        self._client = context.client

    def of(self, document: Document) -> tuple[PlanExecutor, Client]:
        if not document.account:
            return self._executor, self._client
        who = account_of(document.metadata.namespace, document.account)
        return self._executor.acting_as(who), self._client.as_user(who)
