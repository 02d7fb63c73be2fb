"""With whose rights the objects of a Tenant are applied and deleted: the template's account, or our own."""

from steward.kube.client import Client
from steward.runtime.carry import Carrier
from steward.tenants.controllers.ground import Ground
from steward.tenants.controllers.tenant_document import Document
from steward.tenants.permissions import account_of


class Rights:
    def __init__(self, ground: Ground) -> None:
        self._carrier = ground.carrier
        self._client = ground.client

    def of(self, document: Document) -> tuple[Carrier, Client]:
        if not document.account:
            return self._carrier, self._client
        who = account_of(document.metadata.namespace, document.account)
        return self._carrier.acting_as(who), self._client.as_user(who)
