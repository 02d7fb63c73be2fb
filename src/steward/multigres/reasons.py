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
UNMANAGED_SERVERS = "UnmanagedServers"
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
CONFIG_MAP_NOT_FOUND = "ConfigMapNotFound"
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
SWITCHING_PRIMARY = "SwitchingPrimary"
SWITCH_REFUSED = "PrimarySwitchRefused"
SWITCH_REQUESTED = "PrimarySwitchRequested"
NO_OTHER_READY = "ServersNotReady"
DURABILITY_WOULD_BREAK = "DurabilityWouldBreak"
RESTARTING_ONLY_SERVER = "RestartingOnlyServer"
SCALING_DOWN = "ScalingDown"
SETTINGS_REFUSED = "SettingsLowered"
SETTINGS_MISSING = "SettingsMissing"
SETTINGS_UNKNOWN = "SettingsUnknown"
SETTINGS_LOADED = "SettingsLoaded"
SETTINGS_LOADING = "SettingsLoading"
SETTINGS_INVALID = "SettingsInvalid"
SETTINGS_PENDING_RESTART = "SettingsPendingRestart"
SETTINGS_STATE_UNKNOWN = "SettingsStateUnknown"
VOLUMES_AS_ASKED = "VolumesAsAsked"
VOLUMES_CHANGING = "VolumesChanging"
VOLUMES_CANNOT_GROW = "VolumesCannotGrow"
VOLUMES_GROWING = "VolumesGrowing"
VOLUMES_AT_MAXIMUM = "VolumesAtMaximum"
UP_TO_DATE = "UpToDate"
UPDATE_APPLIED = "TemplateUpdateApplied"
UPDATE_REFUSED = "TemplateUpdateRefused"
ROLLED_BACK = "TemplateRolledBack"
NO_SUCH_REVISION = "NoSuchRevision"
WAITING_FOR_WINDOW = "WaitingForWindow"
WAITING_FOR_APPROVAL = "WaitingForApproval"
CONTENT_LOST = "TemplateContentLost"
STATE_UNKNOWN = "StateUnknown"
STOPPED = "Stopped"
PAUSED = "Paused"
PASSWORD_WAITING = "PasswordWaiting"
PASSWORD_REFUSED = "PasswordRefused"
ROLES_READY = "RolesReady"
ROLES_WAITING = "RolesWaiting"
ROLES_REFUSED = "RolesRefused"
HIBERNATED = "Hibernated"
POSTGRES_READY = "PostgresReady"
SERVERS_STARTING = "ServersStarting"
SERVER_UNREGISTERED = "ServerUnregistered"
SERVER_QUARANTINED = "ServerQuarantined"
POSTGRES_DOWN = "PostgresDown"
STANDBY_NOT_STREAMING = "StandbyNotStreaming"
NO_PRIMARY = "NoPrimary"
TOO_FEW_STANDBYS = "TooFewStandbys"
OPERATOR_UPDATE_IN_PROGRESS = "OperatorUpdateInProgress"
OPERATOR_UPDATE_APPLIED = "OperatorUpdateApplied"
WAITING_FOR_OTHER_CLUSTERS = "WaitingForOtherClusters"
WAITING_FOR_READY = "WaitingForReady"
BACKUP_COMPLETED = "BackupCompleted"
BACKUP_WAITING = "BackupWaiting"
BACKUP_RUNNING = "BackupRunning"
BACKUP_FAILED = "BackupFailed"
BACKED_UP = "BackedUp"
NEVER_BACKED_UP = "NeverBackedUp"
BACKUP_STALE = "BackupStale"
BACKUPS_FAILING = "BackupsFailing"
ARCHIVING_FAILS = "ArchivingFails"
REPOSITORY_UNREACHABLE = "RepositoryUnreachable"
REPOSITORY_DAMAGED = "RepositoryDamaged"
BACKUPS_EXPIRED = "BackupsExpired"
RETENTION_FAILED = "RetentionFailed"
BACKUP_SCHEDULED = "BackupScheduled"
RESTORE_BLOCKED = "RestoreBlocked"
RESTORING = "Restoring"
RESTORED = "Restored"
REPOSITORY_EMPTY = "RepositoryEmpty"
AWAITING_ENDPOINT = "AwaitingEndpoint"
NO_READY_GATEWAYS = "NoReadyGateways"
ENDPOINT_READY = "EndpointReady"

MEANINGS = {
    UP_TO_DATE: "Every template that the cluster uses is active in its current version.",
    UPDATE_APPLIED: "A newer content of a template became active.",
    UPDATE_REFUSED: "A newer content of a template would make the cluster invalid; the active content stays.",
    ROLLED_BACK: "A template was rolled back; the earlier content stays active until the user requests another.",
    NO_SUCH_REVISION: "The revision of the rollback does not exist; the message lists those that do.",
    WAITING_FOR_WINDOW: "A change of a template or of the operator becomes active when the next window opens.",
    WAITING_FOR_APPROVAL: "A change of a template or of the operator becomes active when the user accepts it.",
    CONTENT_LOST: "The active revision was deleted and the template has changed since; nothing is changed.",
    OPERATOR_UPDATE_IN_PROGRESS: "Pods change as this version of the operator builds them, until all are ready again.",
    OPERATOR_UPDATE_APPLIED: "All pods are built as this version of the operator builds them, and are ready.",
    WAITING_FOR_OTHER_CLUSTERS: "Other clusters are updated first, a limited number at a time; the message names them.",
    WAITING_FOR_READY: "The cluster is updated to this version of the operator once it is ready.",
    HEALTHY: "Every component exists and is ready.",
    WAITING: "A component is not ready yet; the message names it.",
    COMPONENT_IN_TROUBLE: "A component will not become ready without a change; the message names it and the cause.",
    AVAILABLE: "Every component has at least one pod that serves.",
    UNAVAILABLE: "A component has no pod that serves.",
    INVALID_SPEC: "The spec is invalid; the message names the field. Running components are not changed.",
    NAME_TAKEN: "An object of that name already exists and is not managed by the operator. Rename one of the two.",
    UNMANAGED_SERVERS: "Servers of the shard run without a StatefulSet, as newer Go operators create them.",
    REGISTERED: "The topology server has the records that the data plane reads.",
    TOPOLOGY_UNREACHABLE: "The topology server does not respond; the operator retries.",
    TOPOLOGY_WAITING: "The topology server has no ready member yet.",
    TOPOLOGY_NOT_ETCD: "The server at this address does not answer as etcd does; the message says how.",
    TOPOLOGY_UNREADABLE: "A key in the topology server contains no valid record; the message names it.",
    TOPOLOGY_SECRET_MISSING: "A Secret for the topology server's TLS is missing or incomplete; the message names it.",
    CERTIFICATES_VALID: "The backup service, or the gateways, have certificates that are valid and renewed in time.",
    CERTIFICATES_MISSING: "The backup service, or the gateways, have no usable certificates; the message says what to"
    " do.",
    REFUSED: "The API server rejected an object of the spec; the message quotes the error.",
    HELD_UP: "Components are not ready; the message names the cause.",
    REFERENCES_FOUND: "Every referenced StorageClass and Secret exists.",
    STORAGE_CLASS_NOT_FOUND: "A StorageClass is referenced, or needed as the default, and does not exist.",
    CONFIG_MAP_NOT_FOUND: "A referenced ConfigMap, or a key in it, does not exist; pods that mount it cannot start.",
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
    PRIMARY_UNKNOWN: "The shard has no primary, or it is not known which pod it is, so no healthy pod is replaced or"
    " removed.",
    NO_OTHER_READY: "Another server is not ready or does not stream; a server is removed when all others are.",
    SWITCHING_PRIMARY: "The pod to replace or remove is the primary; the operator has asked for a switch to another.",
    SWITCH_REQUESTED: "The operator asked multiadmin to switch the primary to another server.",
    SWITCH_REFUSED: "Multiadmin refused to switch the primary; the message has the cause and what helps.",
    DURABILITY_WOULD_BREAK: "Without the server the durability policy of the shard cannot hold, so it stays.",
    RESTARTING_ONLY_SERVER: "The only server of the shard is replaced; nothing serves until it is ready again.",
    SCALING_DOWN: "Servers leave the shard one at a time.",
    SETTINGS_REFUSED: "A changed ConfigMap lowers a setting that standbys must not have lower than the primary; servers"
    " keep their settings.",
    SETTINGS_MISSING: "The ConfigMap or key that postgresConfigRef names does not exist.",
    SETTINGS_UNKNOWN: "Postgres does not know a setting, or not its value; the message names it. Servers keep their"
    " settings.",
    SETTINGS_LOADED: "Every server has read its settings.",
    SETTINGS_LOADING: "A server has not read changed settings yet; the message names it.",
    SETTINGS_INVALID: "Postgres does not accept a setting; the message quotes it. Others apply.",
    SETTINGS_PENDING_RESTART: "A server applies changed settings when its pod was replaced; the message names them.",
    SETTINGS_STATE_UNKNOWN: "A server does not say which settings it has; the message says why.",
    VOLUMES_AS_ASKED: "Every volume has the size of the spec.",
    VOLUMES_CHANGING: "Volumes are expanded, or a StatefulSet is recreated without restarting its pods.",
    VOLUMES_CANNOT_GROW: "A volume cannot be changed as the spec requests; the message names it and the cause.",
    VOLUMES_GROWING: "A volume fills up, so the volumes of its pool grow as storage.autogrow says.",
    VOLUMES_AT_MAXIMUM: "A volume fills up and the volumes of its pool have reached storage.autogrow.max.",
    STATE_UNKNOWN: "What reports the state does not answer; the message names it. Nothing is known to be broken.",
    STOPPED: "Every pool has 0 replicas, as the spec asks for; nothing serves.",
    HIBERNATED: "spec.hibernation is true: nothing but the topology server runs, and volumes are kept.",
    PASSWORD_WAITING: "A changed password is not set yet, because a shard has no primary; the published one is valid.",
    PASSWORD_REFUSED: "Postgres did not take over a changed password; the message quotes it. It is tried again.",
    ROLES_READY: "Postgres has every declared role as it is declared.",
    ROLES_WAITING: "The declared roles are not created yet: Postgres has no primary, or was not asked yet.",
    ROLES_REFUSED: "Postgres refused to create or change a role, or one exists that was not created by Steward; the"
    " message quotes it.",
    PAUSED: "spec.paused is true: the operator changes nothing of the cluster.",
    POSTGRES_READY: "Postgres is ready on every server and every standby streams; the message names the primary.",
    SERVERS_STARTING: "Servers start, restart or restore a backup; the message names the first.",
    SERVER_UNREGISTERED: "A server's pod is ready and the topology server has no record of it.",
    SERVER_QUARANTINED: "A server has given up repairing its Postgres; the message says how to replace it.",
    POSTGRES_DOWN: "Postgres does not run in a pod that runs; the message names the pod.",
    STANDBY_NOT_STREAMING: "A standby does not receive the changes of its primary; the message names it.",
    NO_PRIMARY: "No server is the primary, so no write is possible; the orchestrators have to elect one.",
    AWAITING_ENDPOINT: "The Service of the gateways has no address for clients outside the Kubernetes cluster yet.",
    NO_READY_GATEWAYS: "The gateways have an external address, and none of them is ready.",
    ENDPOINT_READY: "Clients outside the Kubernetes cluster reach the gateways at status.externalEndpoint.",
    TOO_FEW_STANDBYS: "Fewer standbys are connected than the durability policy needs, so writes wait.",
    BACKUP_COMPLETED: "The backup is complete and in its repository.",
    BACKUP_WAITING: "The backup has not begun; the message names what it waits for.",
    BACKUP_RUNNING: "The data plane was asked for the backup; the message says how far it is.",
    BACKUP_FAILED: "The backup failed; the message has the cause. Another MultigresBackup tries again.",
    BACKED_UP: "The repository has a complete backup that is not older than staleAfter.",
    NEVER_BACKED_UP: "The repository has no complete backup: no server could be restored.",
    BACKUP_STALE: "The newest complete backup is older than staleAfter.",
    ARCHIVING_FAILS: "WAL does not reach the repository; it fills the servers' volumes.",
    BACKUPS_FAILING: "The last MultigresBackup of the shard failed; the message has the cause.",
    REPOSITORY_UNREACHABLE: "A server cannot read the repository of its shard; the message has the cause.",
    REPOSITORY_DAMAGED: "The last verification of the repository found missing or damaged files.",
    BACKUPS_EXPIRED: "Backups that the retention no longer keeps were deleted from the repository.",
    RETENTION_FAILED: "Backups that the retention no longer keeps could not be deleted; the operator retries.",
    BACKUP_SCHEDULED: "The schedule asks for a backup; the message names its MultigresBackup.",
    RESTORE_BLOCKED: "The cluster cannot be restored as spec.restore asks; nothing is created, the message says why.",
    RESTORING: "Every server restores the newest backup of its repository and replays the WAL after it.",
    RESTORED: "Every shard serves with the data of its repository; the message names the backups.",
    REPOSITORY_EMPTY: "There was no backup to restore: the shard began without data. Check the repository's name.",
}
