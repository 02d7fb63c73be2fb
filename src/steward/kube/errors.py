"""The errors of communication with an API server.

    KubeError
    ├── ConfigError              kubeconfig, service account or credential plugin: which file, which entry, the cure
    │   └── NoCluster            neither a kubeconfig nor a service account was found
    ├── TransportError           there was no response
    │   ├── Unreachable          the request never reached the server: safe to retry
    │   ├── Timeout              .ambiguous: the server may have done it
    │   └── TlsError             the handshake failed
    ├── ApiError                 the server rejected the request: status, reason, message, details
    │   ├── TooDeep              200  a response that is nested deeper than we can decode
    │   ├── BadRequest           400
    │   ├── Unauthorized         401
    │   ├── Forbidden            403  .verb .resource .namespace .user
    │   ├── NotFound             404
    │   ├── AlreadyExists        409
    │   ├── Conflict             409  the resourceVersion or uid was not the expected one
    │   ├── FieldConflict        409  .managers: which manager owns which field
    │   ├── Gone                 410
    │   ├── RequestTooLarge      413
    │   ├── Invalid              422  .causes: field → messages
    │   ├── TooManyRequests      429  .retry_after
    │   │   └── DisruptionBudget      an eviction that a PodDisruptionBudget forbids
    │   └── ServerError          5xx  .retry_after
    │       ├── InternalError    500
    │       │   └── Unreadable        the server cannot read the manifest: a retry does not help
    │       ├── Unavailable      503
    │       └── ServerTimeout    504
    ├── NoSuchKind               the server does not serve this kind
    ├── ServerRestored           the server's data is older than what was read from it before
    ├── DeploymentNotFound       no Deployment, or more than one, has the labels that were searched for
    └── LeaseLost                a write was not sent because this process is no longer the leader

A message never holds a header, a token or a request body.
"""

from collections.abc import Mapping
from typing import Any


class KubeError(Exception):
    """Base class of the errors above."""


class ConfigError(KubeError):
    pass


class NoCluster(ConfigError):
    pass


class TransportError(KubeError):
    pass


class Unreachable(TransportError):
    pass


class Timeout(TransportError):
    def __init__(self, message: str, ambiguous: bool = False) -> None:
        super().__init__(message)
        self.ambiguous = ambiguous


class TlsError(TransportError):
    pass


class ApiError(KubeError):
    def __init__(
        self, status: int, reason: str, message: str, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.details: Mapping[str, Any] = details or {}


class TooDeep(ApiError):
    pass


class BadRequest(ApiError):
    pass


class Unauthorized(ApiError):
    pass


class Forbidden(ApiError):
    verb: str = ""
    resource: str = ""
    namespace: str = ""
    """Empty for a request that concerns the whole cluster, and for a denial by admission."""
    user: str = ""


class NotFound(ApiError):
    pass


class AlreadyExists(ApiError):
    pass


class Conflict(ApiError):
    pass


class FieldConflict(ApiError):
    managers: tuple[tuple[str, str], ...] = ()
    """(manager, field) pairs; a field is a path such as `.spec.replicas`."""


class Gone(ApiError):
    pass


class RequestTooLarge(ApiError):
    pass


class Invalid(ApiError):
    causes: Mapping[str, tuple[str, ...]] = {}
    """Field path → messages."""


class TooManyRequests(ApiError):
    retry_after: float | None = None


class DisruptionBudget(TooManyRequests):
    pass


class ServerError(ApiError):
    retry_after: float | None = None


class InternalError(ServerError):
    pass


class Unreadable(InternalError):
    pass


class Unavailable(ServerError):
    pass


class ServerTimeout(ServerError):
    pass


class ServerRestored(KubeError):
    pass


class NoSuchKind(KubeError):
    pass


class DeploymentNotFound(KubeError):
    pass


class LeaseLost(KubeError):
    pass
