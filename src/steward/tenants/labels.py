"""All labels, annotations and finalizers.

Most are those of the Go operator, and part of the manifests, dashboards and scripts of users: none of them may
change.
"""

from typing import Final

PREFIX: Final = "kubernetes-tenants.org"
FIELD_MANAGER: Final = "tenant-operator"
SEEDING_MANAGER: Final = "tenant-operator-seed"
"""The field manager that sets `ignoreFields` once, so that the main manager never owns them."""

# On a Tenant: labels.
REGISTRY: Final = f"{PREFIX}/registry"
UID: Final = f"{PREFIX}/uid"
TEMPLATE: Final = f"{PREFIX}/template"
BUCKET: Final = f"{PREFIX}/bucket"
"""0 to 255: the part of the fleet to which a Tenant belongs, for `--shard`."""

# On a Tenant: annotations of the Go operator. Row values are no longer stored there.
HOST_OR_URL: Final = f"{PREFIX}/hostOrUrl"
ACTIVATE: Final = f"{PREFIX}/activate"
EXTRA: Final = f"{PREFIX}/extra"
TEMPLATE_GENERATION: Final = f"{PREFIX}/template-generation"
FORMER_ROW_VALUES: Final = (HOST_OR_URL, ACTIVATE, EXTRA)

# On a Tenant: annotations.
DELETE_AFTER: Final = f"{PREFIX}/delete-after"
"""When a Tenant without an active row is deleted, unless the row returns."""
FORCE_DELETE: Final = f"{PREFIX}/force-delete"

# On a registry or a template: annotations.
APPROVE_DELETION: Final = f"{PREFIX}/approve-deletion"

# On a registry: an annotation.
SYNC_REQUEST: Final = f"{PREFIX}/sync-request"
"""Any new value makes the operator read the table at once; `status.lastSyncRequest` has the value of the last read."""

# On what a Tenant applies: labels.
TENANT: Final = f"{PREFIX}/tenant"
TENANT_NAMESPACE: Final = f"{PREFIX}/tenant-namespace"
ORPHANED: Final = f"{PREFIX}/orphaned"

# On a Namespace: a label that its owner sets.
ALLOW_TEMPLATES_FROM: Final = f"{PREFIX}/allow-templates-from"
"""Namespaces whose templates may write to this one, joined by `_`: a label value has no commas, and a name of a
namespace no underscores."""

# On what a Tenant applies: annotations.
DELETION_POLICY: Final = f"{PREFIX}/deletion-policy"
CREATED_ONCE: Final = f"{PREFIX}/created-once"
ORPHANED_AT: Final = f"{PREFIX}/orphaned-at"
ORPHANED_REASON: Final = f"{PREFIX}/orphaned-reason"
ORPHANED_FROM: Final = f"{PREFIX}/orphaned-from"
"""The namespace of the Tenant that orphaned it."""
RECREATE: Final = f"{PREFIX}/recreate"

AGGREGATION_LABEL: Final = f"{PREFIX}/aggregate-to-tenant-operator"
"""On a ClusterRole: its rules are granted to the operator."""
REMOVED_FROM_TEMPLATE: Final = "RemovedFromTemplate"
TENANT_DELETED: Final = "TenantDeleted"

TENANT_FINALIZER: Final = f"tenant.operator.{PREFIX}/finalizer"
REGISTRY_FINALIZER: Final = f"{PREFIX}/registry-finalizer"
TEMPLATE_FINALIZER: Final = f"{PREFIX}/template-finalizer"
