"""What a Tenant may write, on a cluster that the test describes."""

from collections.abc import Mapping
from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.objects.access import TenantAccess, TenantScope
from steward.tenants.objects.orphans import TenantOwner
from steward.tenants.objects.permissions import Permissions


class OfflineScope(NamedTuple):
    """Namespaces by their labels, Tenants by their template, and ServiceAccounts."""

    namespaces: Mapping[str, Mapping[str, str]] = {}
    templates: Mapping[Key, str] = {}
    accounts: Mapping[Key, ObjectMeta] = {}

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        return self.namespaces.get(name, {})

    def template_of(self, tenant: Key) -> str:
        return self.templates.get(tenant, "")

    def account(self, key: Key) -> ObjectMeta | None:
        return self.accounts.get(key)


EMPTY = OfflineScope()


def offline_access(
    owner: TenantOwner, template: str, live: OfflineScope = EMPTY, account: str = ""
) -> TenantAccess:
    return TenantAccess(TenantScope(owner, template, account), Permissions(), live)
