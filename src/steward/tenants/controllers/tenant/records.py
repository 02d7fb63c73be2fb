"""The records of a Tenant that has no status yet.

A status before the objects are applied would be one of nine writes of a new Tenant, and soon outdated. So until the
first one the spec says which objects there may be, and the registry controller does not change it. Whatever status is
the first holds the records, also one about a failure, a pause or a deletion.
"""

from collections.abc import Iterable

from msgspec import structs

from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.state import TenantState
from steward.tenants.objects.desired import DesiredObject


def recorded_document(
    document: TenantDocument, state: TenantState, desired: Iterable[DesiredObject] = ()
) -> TenantDocument:
    """With what this process has applied, what it is about to apply, and what an earlier process may have applied. A
    Tenant with a status has its records there."""
    if document.is_reported:
        return document
    records = {each.ref: each.applied_object() for each in desired}
    return structs.replace(document, unreported=tuple((records | state.records).values()))
