"""Reasons of the conditions and events of multigres, with their meaning.

One CamelCase word each; the reference in the docs is generated from this table.
"""

HEALTHY = "Healthy"
WAITING = "WaitingForComponents"
COMPONENT_IN_TROUBLE = "ComponentInTrouble"
AVAILABLE = "ComponentsServing"
UNAVAILABLE = "NothingServes"
INVALID_SPEC = "InvalidSpec"
NAME_TAKEN = "NameTaken"
REGISTERED = "Registered"
TOPOLOGY_UNREACHABLE = "TopologyUnreachable"
TOPOLOGY_WAITING = "TopologyServerStarting"
TOPOLOGY_UNREADABLE = "TopologyRecordUnreadable"
TOPOLOGY_NOT_ETCD = "TopologyAnswerInvalid"
TOPOLOGY_SECRET_MISSING = "TopologySecretMissing"
CERTIFICATES_VALID = "CertificatesValid"
CERTIFICATES_MISSING = "CertificatesMissing"
HELD_UP = "HeldUp"
REFUSED = "RefusedByTheServer"
REFERENCES_FOUND = "ReferencesFound"
STORAGE_CLASS_NOT_FOUND = "StorageClassNotFound"
SECRET_NOT_FOUND = "SecretNotFound"
CELL_UNKNOWN = "CellUnknown"
DEPENDENTS_EXIST = "DependentComponentsExist"
HAS_DEPENDENTS = "HasDependents"
NO_DEPENDENTS = "NoDependents"
PROTECTION_OFF = "ProtectionOff"
DRAINING = "Draining"
DRAINED = "Drained"
DELETION_BLOCKED = "DeletionBlocked"
SAFE_TO_DELETE = "SafeToDelete"
SHUTDOWN_STARTED = "ShutdownStarted"
SHUTDOWN_COMPLETE = "ShutdownComplete"
FORCE_DELETED = "ForceDeleted"
ANNOTATION_IGNORED = "AnnotationIgnored"
DELETING = "Deleting"
CLAIMS_RETAINED = "ClaimsRetained"
RECORDS_LEFT = "RecordsLeft"
PODS_UP_TO_DATE = "PodsUpToDate"
REVISION_PENDING = "RevisionPending"
ROLLING = "Rolling"
ROLLOUT_STOPPED = "RolloutStopped"
BUDGET_FORBIDS = "DisruptionBudgetForbids"
PRIMARY_UNKNOWN = "PrimaryUnknown"
PRIMARY_WOULD_GO = "PrimaryWouldGo"
NO_OTHER_READY = "NoOtherServerReady"
SCALING_DOWN = "ScalingDown"
VOLUMES_AS_ASKED = "VolumesAsAsked"
VOLUMES_CHANGING = "VolumesChanging"
VOLUMES_CANNOT_GROW = "VolumesCannotGrow"
UP_TO_DATE = "UpToDate"
UPDATE_APPLIED = "TemplateUpdateApplied"
UPDATE_REFUSED = "TemplateUpdateRefused"
ROLLED_BACK = "TemplateRolledBack"
NO_SUCH_REVISION = "NoSuchRevision"
WAITING_FOR_WINDOW = "WaitingForWindow"
WAITING_FOR_APPROVAL = "WaitingForApproval"
CONTENT_LOST = "TemplateContentLost"

MEANINGS = {
    UP_TO_DATE: "Every template that the cluster uses is active in its current version.",
    UPDATE_APPLIED: "A newer content of a template became active.",
    UPDATE_REFUSED: "A newer content of a template would make the cluster invalid; the active content stays.",
    ROLLED_BACK: "A template was rolled back; the earlier content stays active until the user requests another.",
    NO_SUCH_REVISION: "The revision of the rollback does not exist; the message lists those that do.",
    WAITING_FOR_WINDOW: "A template changed; the change becomes active when the next window opens.",
    WAITING_FOR_APPROVAL: "A template changed; the change becomes active when the user accepts it.",
    CONTENT_LOST: "The active revision was deleted and the template has changed since; nothing is changed.",
    HEALTHY: "Every component exists and is ready.",
    WAITING: "A component is not ready yet; the message names it.",
    COMPONENT_IN_TROUBLE: "A component will not become ready without a change; the message names it and the cause.",
    AVAILABLE: "Every component has at least one pod that serves.",
    UNAVAILABLE: "A component has no pod that serves.",
    INVALID_SPEC: "The spec is invalid; the message names the field. Running components are not changed.",
    NAME_TAKEN: "An object of that name already exists and is not managed by the operator. Rename one of the two.",
    REGISTERED: "The topology server has the records that the data plane reads.",
    TOPOLOGY_UNREACHABLE: "The topology server does not respond; the operator retries.",
    TOPOLOGY_WAITING: "The topology server has no ready member yet.",
    TOPOLOGY_NOT_ETCD: "The server at this address does not answer as etcd does; the message says how.",
    TOPOLOGY_UNREADABLE: "A key in the topology server contains no valid record; the message names it.",
    TOPOLOGY_SECRET_MISSING: "A Secret for the topology server's TLS is missing or incomplete; the message names it.",
    CERTIFICATES_VALID: "The backup service has certificates that are valid and will be renewed in time.",
    CERTIFICATES_MISSING: "The backup service has no usable certificates; the message says what to do.",
    REFUSED: "The API server rejected an object of the spec; the message quotes the error.",
    HELD_UP: "Components are not ready; the message names the cause.",
    REFERENCES_FOUND: "Every referenced StorageClass and Secret exists.",
    STORAGE_CLASS_NOT_FOUND: "A StorageClass is referenced, or needed as the default, and does not exist.",
    SECRET_NOT_FOUND: "A referenced Secret does not exist; the message names it.",
    CELL_UNKNOWN: "A template names cells that the cluster does not have; those placements are skipped.",
    DEPENDENTS_EXIST: "Its deletion waits for the components that the message names.",
    HAS_DEPENDENTS: "Components still depend on it; remove or update them first.",
    NO_DEPENDENTS: "Nothing depends on it.",
    PROTECTION_OFF: "Components depend on it, but it is not protected, or its members no longer exist.",
    DRAINING: "It is being deleted: pods terminate, and clients have until the end of the grace period to disconnect.",
    DRAINED: "Draining is complete.",
    DELETION_BLOCKED: "Its deletion is blocked by the components that depend on it.",
    SAFE_TO_DELETE: "It is being deleted and nothing depends on it.",
    SHUTDOWN_STARTED: "The graceful shutdown began; the message says how long it may take.",
    SHUTDOWN_COMPLETE: "The graceful shutdown is complete and the object is deleted.",
    FORCE_DELETED: "It was deleted by force; the message says what was skipped.",
    ANNOTATION_IGNORED: "The value of an annotation is invalid or too large; the message names the value that applies.",
    DELETING: "The cluster is being deleted; the message says what it waits for.",
    CLAIMS_RETAINED: "A component with data was deleted and its volume claims are kept; the message names them.",
    RECORDS_LEFT: "The topology server did not respond, so records remain there; the message names the server.",
    PODS_UP_TO_DATE: "Every pod of the shard matches the spec.",
    REVISION_PENDING: "A StatefulSet was changed or created; its controller has not reported the new revision yet.",
    ROLLING: "Pods of the shard are replaced one at a time, the primary last; the message reports the progress.",
    ROLLOUT_STOPPED: "A replaced pod does not become ready, so no other pod is replaced; correct the spec.",
    BUDGET_FORBIDS: "A disruption budget does not allow the eviction of the next pod; the operator retries.",
    PRIMARY_UNKNOWN: "The topology server does not report which pod is the primary, so no pod is removed.",
    NO_OTHER_READY: "A pool is to be removed and no other server is ready; it is removed when one is.",
    PRIMARY_WOULD_GO: "The pod to remove is the primary; another server must become primary first.",
    SCALING_DOWN: "A pool is scaled down by one pod at a time.",
    VOLUMES_AS_ASKED: "Every volume has the size of the spec.",
    VOLUMES_CHANGING: "Volumes are expanded, or a StatefulSet is recreated without restarting its pods.",
    VOLUMES_CANNOT_GROW: "A volume cannot be changed as the spec requests; the message names it and the cause.",
}
