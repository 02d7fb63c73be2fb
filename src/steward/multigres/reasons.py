"""Every reason that Steward gives in a condition or an event of multigres, with what it means.

One CamelCase word each; the reference in the docs is made from this table.
"""

HEALTHY = "Healthy"
WAITING = "WaitingForComponents"
TROUBLE = "ComponentInTrouble"
AVAILABLE = "ComponentsServing"
UNAVAILABLE = "NothingServes"
INVALID_SPEC = "InvalidSpec"
NAME_TAKEN = "NameTaken"
REGISTERED = "Registered"
TOPOLOGY_UNREACHABLE = "TopologyUnreachable"
TOPOLOGY_WAITING = "TopologyServerStarting"
TOPOLOGY_UNREADABLE = "TopologyRecordUnreadable"
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
    UP_TO_DATE: "Every template that the cluster uses is in force as it stands.",
    UPDATE_APPLIED: "A newer content of a template was taken.",
    UPDATE_REFUSED: "A newer content of a template would break the cluster; what was in force stays.",
    ROLLED_BACK: "The cluster went back to an earlier content of a template and stays there until asked.",
    NO_SUCH_REVISION: "The revision to go back to is not kept; the message lists those that are.",
    WAITING_FOR_WINDOW: "A template changed; the change is taken when the next window opens.",
    WAITING_FOR_APPROVAL: "A template changed; the change is taken when somebody accepts it.",
    CONTENT_LOST: "The content in force was deleted and the template has changed since; nothing is touched.",
    HEALTHY: "Everything that was asked for is there and ready.",
    WAITING: "Something is not ready yet; the message names it.",
    TROUBLE: "Something will not become ready by itself; the message says what and why.",
    AVAILABLE: "Every component has at least one pod that serves.",
    UNAVAILABLE: "A component has no pod that serves.",
    INVALID_SPEC: "The spec cannot be carried out; the message names the field. What runs stays as it is.",
    NAME_TAKEN: "An object of somebody else stands under a name that Steward needs. Rename one of the two.",
    REGISTERED: "The topology server holds the records that the data plane reads.",
    TOPOLOGY_UNREACHABLE: "The topology server does not answer; it is tried again and again.",
    TOPOLOGY_WAITING: "The topology server has no ready member yet.",
    TOPOLOGY_UNREADABLE: "A key of ours in the topology server holds something else; the message names it.",
    TOPOLOGY_SECRET_MISSING: "A Secret for the topology server's TLS is missing or not whole; the message names it.",
    CERTIFICATES_VALID: "The backup service has certificates that are valid and will be renewed in time.",
    CERTIFICATES_MISSING: "The backup service has no usable certificates; the message says what to do.",
    REFUSED: "The API server refuses what the spec asks for; the message has its words.",
    HELD_UP: "Parts are not ready, and the message says what holds them up.",
    REFERENCES_FOUND: "Everything that the cluster names is there.",
    STORAGE_CLASS_NOT_FOUND: "A storage class is named, or needed as the default, and does not exist.",
    SECRET_NOT_FOUND: "A Secret is named and does not exist; the message says which.",
    CELL_UNKNOWN: "A template asks for cells that the cluster lacks; those placements are left out.",
    DEPENDENTS_EXIST: "Its deletion waits for the components that the message names.",
    HAS_DEPENDENTS: "Components still depend on it; remove or update them first.",
    NO_DEPENDENTS: "Nothing depends on it.",
    PROTECTION_OFF: "Components depend on it, but it is not protected, or its members are gone already.",
    DRAINING: "It is going: pods end, and clients have until the end of the period to leave.",
    DRAINED: "What was to end has ended.",
    DELETION_BLOCKED: "It was to be deleted and stays for the components that depend on it.",
    SAFE_TO_DELETE: "It is being deleted and nothing depends on it.",
    SHUTDOWN_STARTED: "The graceful shutdown began; the message says how long it may take.",
    SHUTDOWN_COMPLETE: "The graceful shutdown is over and the object goes.",
    FORCE_DELETED: "It was deleted by force; the message says what was skipped.",
    ANNOTATION_IGNORED: "An annotation makes no sense, or asks for too much; the message says what holds instead.",
    DELETING: "The cluster is being deleted; the message says what it waits for.",
    CLAIMS_RETAINED: "Something with data is gone and its volume claims stay; the message names them.",
    RECORDS_LEFT: "The topology server never answered, so records stay there; the message says where.",
    PODS_UP_TO_DATE: "Every pod of the shard runs what the spec asks for.",
    REVISION_PENDING: "A StatefulSet has changed or is being made; which pods are outdated is known in a moment.",
    ROLLING: "Pods of the shard are replaced one at a time, the primary last; the message says where it stands.",
    ROLLOUT_STOPPED: "A pod that was replaced does not become ready, so no other is; correct the spec.",
    BUDGET_FORBIDS: "A disruption budget keeps the next pod where it is; it is tried again.",
    PRIMARY_UNKNOWN: "The topology does not say which pod is the primary, so no pod may go.",
    NO_OTHER_READY: "A pool is to go, and none of the servers that stay is ready; it goes once one is.",
    PRIMARY_WOULD_GO: "The pod that would go is the primary; another one must take over first.",
    SCALING_DOWN: "A pool is scaled down by one pod at a time.",
    VOLUMES_AS_ASKED: "Every volume is as large as the spec asks for.",
    VOLUMES_CHANGING: "Volumes grow, or a StatefulSet is made again around its running pods.",
    VOLUMES_CANNOT_GROW: "A volume cannot become what the spec asks for; the message says which one and why.",
}
