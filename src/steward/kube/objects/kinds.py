"""Kinds, keys and references of objects, as hashable values.

A kind is apiVersion and kind; the plural resource name comes from discovery.
"""

from typing import Any, NamedTuple

Manifest = dict[str, Any]


class Kind(NamedTuple):
    api_version: str
    kind: str

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    def __str__(self) -> str:
        return f"{self.kind} ({self.api_version})"


class Key(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class Ref(NamedTuple):
    kind: Kind
    key: Key

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.key}"


def kind_of(manifest: Manifest) -> Kind:
    return Kind(manifest["apiVersion"], manifest["kind"])


def key_of_manifest(manifest: Manifest) -> Key:
    metadata = manifest.get("metadata") or {}
    return Key(metadata.get("namespace") or "", metadata.get("name") or "")


def ref_of(manifest: Manifest) -> Ref:
    return Ref(kind_of(manifest), key_of_manifest(manifest))


CONFIG_MAP = Kind("v1", "ConfigMap")
NAMESPACE = Kind("v1", "Namespace")
NODE = Kind("v1", "Node")
PERSISTENT_VOLUME = Kind("v1", "PersistentVolume")
PERSISTENT_VOLUME_CLAIM = Kind("v1", "PersistentVolumeClaim")
POD = Kind("v1", "Pod")
SECRET = Kind("v1", "Secret")
SERVICE = Kind("v1", "Service")
SERVICE_ACCOUNT = Kind("v1", "ServiceAccount")
CONTROLLER_REVISION = Kind("apps/v1", "ControllerRevision")
DAEMON_SET = Kind("apps/v1", "DaemonSet")
DEPLOYMENT = Kind("apps/v1", "Deployment")
REPLICA_SET = Kind("apps/v1", "ReplicaSet")
STATEFUL_SET = Kind("apps/v1", "StatefulSet")
CRON_JOB = Kind("batch/v1", "CronJob")
JOB = Kind("batch/v1", "Job")
HORIZONTAL_POD_AUTOSCALER = Kind("autoscaling/v2", "HorizontalPodAutoscaler")
INGRESS = Kind("networking.k8s.io/v1", "Ingress")
NETWORK_POLICY = Kind("networking.k8s.io/v1", "NetworkPolicy")
POD_DISRUPTION_BUDGET = Kind("policy/v1", "PodDisruptionBudget")
EVICTION = Kind("policy/v1", "Eviction")
ROLE = Kind("rbac.authorization.k8s.io/v1", "Role")
ROLE_BINDING = Kind("rbac.authorization.k8s.io/v1", "RoleBinding")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io/v1", "ClusterRole")
CLUSTER_ROLE_BINDING = Kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
STORAGE_CLASS = Kind("storage.k8s.io/v1", "StorageClass")
LEASE = Kind("coordination.k8s.io/v1", "Lease")
EVENT = Kind("events.k8s.io/v1", "Event")
CUSTOM_RESOURCE_DEFINITION = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
MUTATING_WEBHOOKS = Kind("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration")
VALIDATING_WEBHOOKS = Kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
TOKEN_REVIEW = Kind("authentication.k8s.io/v1", "TokenReview")
SELF_SUBJECT_ACCESS_REVIEW = Kind("authorization.k8s.io/v1", "SelfSubjectAccessReview")
SUBJECT_ACCESS_REVIEW = Kind("authorization.k8s.io/v1", "SubjectAccessReview")
