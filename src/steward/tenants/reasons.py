"""All reasons of conditions and events of the tenants operator, with their meaning.

One CamelCase word each; where the Go operator has a reason, it is the same. The reference in the docs is generated
from this table.
"""

# Registries.
DATABASE_CONNECTED = "DatabaseConnected"
DATABASE_CONNECTION_FAILED = "DatabaseConnectionFailed"
DATABASE_QUERY_FAILED = "DatabaseQueryFailed"
SOURCE_READ = "SourceRead"
NOT_READ_YET = "NotReadYet"
INVALID_SPEC = "InvalidSpec"
NOTHING_HELD = "NothingHeld"
DELETION_HELD = "DeletionHeld"
DELETION_RELEASED = "DeletionReleased"
MANY_DELETED = "ManyTenantsDeleted"
ROW_REJECTED = "RowRejected"
TEMPLATE_MISSING = "TemplateMissing"
WRITE_FAILED = "WriteFailed"
WAITING_FOR_TENANTS = "WaitingForTenants"
TENANT_DELETING = "TenantDeleting"
TENANT_DELETED = "TenantDeleted"
TENANT_DELETION_FAILED = "TenantDeletionFailed"
PAUSED = "Paused"
TENANT_DELETION_DENIED = "TenantDeletionDenied"
TEMPLATE_RENDER_FAILED = "TemplateRenderFailed"

# Templates.
VALIDATION_PASSED = "ValidationPassed"
VALIDATION_FAILED = "ValidationFailed"
REGISTRY_NOT_FOUND = "RegistryNotFound"
ALL_TENANTS_READY = "AllTenantsReady"
NOT_ALL_TENANTS_READY = "NotAllTenantsReady"
NO_TENANTS = "NoTenants"
ROLLOUT_FAILED = "RolloutFailed"
ROLLOUT_THROTTLED = "RolloutThrottled"
OPERATOR_RIGHTS = "OperatorRights"

# Tenants.
RECONCILED = "Reconciled"
RECONCILING = "Reconciling"
RECONCILE_COMPLETE = "ReconcileComplete"
NOT_ALL_RESOURCES_READY = "NotAllResourcesReady"
RESOURCES_FAILED = "ResourcesFailed"
RESOURCES_CONFLICTED = "ResourcesConflicted"
RESOURCES_FAILED_AND_CONFLICTED = "ResourcesFailedAndConflicted"
RESOURCE_FAILURES = "ResourceFailures"
RESOURCE_CONFLICTS = "ResourceConflicts"
RESOURCE_FAILURES_AND_CONFLICTS = "ResourceFailuresAndConflicts"
RESOURCE_CONFLICT = "ResourceConflict"
NO_CONFLICT = "NoConflict"
HEALTHY = "Healthy"
PERMISSION_DENIED = "PermissionDenied"
TEMPLATE_RENDER_ERROR = "TemplateRenderError"
DEPENDENCY_CYCLE = "DependencyCycle"
NO_SERVICE_ACCOUNT = "ServiceAccountMissing"
UNREADABLE_SPEC = "UnreadableSpec"
FORCE_APPLIED = "ForceApplied"
DRIFT_REVERTED = "DriftReverted"
READINESS_TIMEOUT = "ReadinessTimeout"
RESOURCE_FAILED = "ResourceFailed"
TENANT_READY = "TenantReady"
APPLY_FAILED = "ApplyFailed"
DEPENDENCY_SKIPPED = "DependencySkipped"
DEPENDENCY_FAILED_BUT_PROCEEDING = "DependencyFailedButProceeding"
ORPHAN_DELETED = "OrphanedResourceDeleted"
ORPHAN_RETAINED = "OrphanedResourceRetained"
RESOURCE_RETAINED = "ResourceRetained"
RESOURCE_RECREATED = "ResourceRecreated"

MEANINGS = {
    DATABASE_CONNECTED: "The table was read, and every valid row has its Tenants.",
    DATABASE_CONNECTION_FAILED: "The table cannot be read; the message says why. Nothing is deleted until it can.",
    DATABASE_QUERY_FAILED: "A read of the table failed; the message says why.",
    SOURCE_READ: "The last read of the table completed.",
    NOT_READ_YET: "The table has not been read yet.",
    INVALID_SPEC: "The spec is invalid; the message names the field. Existing objects are not changed.",
    NOTHING_HELD: "No deletion waits for approval.",
    DELETION_HELD: "More Tenants would be deleted than the guard allows; the message names them and the approval.",
    DELETION_RELEASED: "A held deletion was approved, or its rows returned.",
    MANY_DELETED: "Within an hour more Tenants were deleted in small steps than may be at once. Nothing is held.",
    ROW_REJECTED: "A row cannot become a Tenant; the message says why. Its existing Tenant is not changed.",
    TEMPLATE_MISSING: "There are Tenants of a template that does not exist; they are not changed.",
    WRITE_FAILED: "Some Tenants could not be written; the message says why. It is tried again.",
    WAITING_FOR_TENANTS: "Tenants are being deleted; the object is deleted after them.",
    TENANT_DELETING: "A Tenant is deleted: its row is missing or inactive, or its template uses another registry.",
    TENANT_DELETED: "A Tenant has been deleted.",
    TENANT_DELETION_FAILED: "A Tenant could not be deleted; the message says why. It is tried again.",
    PAUSED: "spec.paused is true: the operator changes nothing that belongs to the object.",
    TENANT_DELETION_DENIED: "An object is protected from deletion; the message says how to go on. It is tried again.",
    TEMPLATE_RENDER_FAILED: "A row could not be rendered; nothing of that Tenant is applied.",
    VALIDATION_PASSED: "The template can be used.",
    VALIDATION_FAILED: "The template cannot be used; the message names fields, lines and columns.",
    REGISTRY_NOT_FOUND: "There is no TenantRegistry of the name in registryId.",
    ALL_TENANTS_READY: "All Tenants of the template are ready.",
    NOT_ALL_TENANTS_READY: "Some Tenants of the template are not ready.",
    NO_TENANTS: "The template has no Tenants.",
    ROLLOUT_FAILED: "A rollout made no progress within its deadline and was stopped; edit the template to continue.",
    ROLLOUT_THROTTLED: "Some Tenants wait until others have rolled out, because of maxSkew.",
    OPERATOR_RIGHTS: "The template has the operator's rights: no serviceAccountName, and --template-scope=cluster.",
    RECONCILED: "All objects of the Tenant are ready.",
    RECONCILING: "Objects are being applied, or are not ready yet.",
    RECONCILE_COMPLETE: "All objects are applied.",
    NOT_ALL_RESOURCES_READY: "Some objects are not ready yet; the message names them.",
    RESOURCES_FAILED: "Some objects have failed; the message names them.",
    RESOURCES_CONFLICTED: "Some objects belong to another owner; the message names them.",
    RESOURCES_FAILED_AND_CONFLICTED: "Some objects have failed, and some belong to another owner.",
    RESOURCE_FAILURES: "Some objects have failed; the message names them.",
    RESOURCE_CONFLICTS: "Some objects belong to another owner; the message names them.",
    RESOURCE_FAILURES_AND_CONFLICTS: "Some objects have failed, and some belong to another owner.",
    RESOURCE_CONFLICT: "An object, or a field of it, belongs to another owner; the message names the owner.",
    NO_CONFLICT: "No object belongs to another owner.",
    HEALTHY: "Nothing has failed.",
    PERMISSION_DENIED: "An object may not be applied; the message names the rule, or verb, resource and account.",
    TEMPLATE_RENDER_ERROR: "The row could not be rendered; nothing is applied, and existing objects are kept.",
    DEPENDENCY_CYCLE: "Resources depend on each other; the message shows the cycle.",
    NO_SERVICE_ACCOUNT: "The template names no serviceAccountName, and a flag of the operator requires one.",
    UNREADABLE_SPEC: "The Tenant's spec cannot be read; the message names the field.",
    FORCE_APPLIED: "An object or a field was taken over from another owner, because of conflictPolicy: Force.",
    DRIFT_REVERTED: "Objects that others had changed or deleted are as the template defines them again.",
    READINESS_TIMEOUT: "An object was not ready within its timeoutSeconds.",
    RESOURCE_FAILED: "The status of an object reports a failure.",
    TENANT_READY: "All objects of the Tenant became ready.",
    APPLY_FAILED: "An object could not be applied; the message says why. It is tried again.",
    DEPENDENCY_SKIPPED: "An object is skipped because a dependency has failed.",
    DEPENDENCY_FAILED_BUT_PROCEEDING: "An object is applied although a dependency has failed.",
    ORPHAN_DELETED: "An object that the template no longer contains was deleted.",
    ORPHAN_RETAINED: "An object that the template no longer contains was kept, and labelled as orphaned.",
    RESOURCE_RETAINED: "An object is kept after its Tenant is deleted, because of deletionPolicy: Retain.",
    RESOURCE_RECREATED: "An object was deleted to be created again, because a changed field is immutable.",
}
