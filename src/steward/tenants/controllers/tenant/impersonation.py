"""With whose rights the objects of a Tenant are applied and deleted: the template's account, or our own."""

from steward.kube.client.client import Client
from steward.runtime.plan.executor import Carrier
from steward.tenants.controllers.common.context import Ground
from steward.tenants.controllers.common.document import Document
from steward.tenants.objects.permissions import account_of


class Rights:
    def __init__(self, ground: Ground) -> None:
        self._carrier = ground.carrier
        self._client = ground.client

    def of(self, document: Document) -> tuple[Carrier, Client]:
        if not document.account:
            return self._carrier, self._client
        who = account_of(document.metadata.namespace, document.account)
        return self._carrier.acting_as(who), self._client.as_user(who)
