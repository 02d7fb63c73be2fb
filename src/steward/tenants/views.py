"""The views of the kinds that the operator caches: only the fields declared here are decoded.

Specs and statuses that users write are kept undecoded until they are used: an object that an older schema accepted
must end in a message in its own status, not be missing from the cache. Of a Tenant, only fields that are needed for
the whole fleet are kept. Its objects, by far the largest part, are read from the API server when they are applied.
"""

import sys
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from steward.kube.objects.conditions import ConditionSummary
from steward.kube.objects.meta import ObjectMeta


class Registry(Struct, frozen=True):
    """A TenantRegistry with undecoded spec and status."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Template(Struct, frozen=True):
    """A TenantTemplate with undecoded spec and status."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Revision(Struct, frozen=True):
    """A ControllerRevision with a version of a template's spec."""

    metadata: ObjectMeta
    revision: int = 0
    data: dict[str, Any] = {}


class ValuesSummary(Struct, frozen=True, rename="camel", gc=False):
    secret_name: str = ""
    digest: str = ""


class TenantSpecSummary(Struct, frozen=True, rename="camel"):
    uid: str = ""
    template_ref: str = ""
    template_generation: int = 0
    """0: not rendered by this operator."""
    values: ValuesSummary = ValuesSummary()
    render_failure: dict[str, Any] = {}
    paused: bool = False


class TenantStatusSummary(Struct, frozen=True, rename="camel"):
    observed_generation: int = 0
    desired_resources: int = 0
    ready_resources: int = 0
    failed_resources: int = 0
    conflicted_resources: int = 0
    conditions: tuple[ConditionSummary, ...] = ()


@lru_cache(maxsize=1024)
def _shared(status: TenantStatusSummary) -> TenantStatusSummary:
    """An equal status that another Tenant has."""
    return status


class Tenant(Struct, frozen=True):
    """A Tenant without its objects. Most Tenants of a fleet have an equal status, and share one. With conditions of its
    own, and their messages, a cached Tenant took 4.0 kB instead of 2.1."""

    metadata: ObjectMeta
    spec: TenantSpecSummary = TenantSpecSummary()
    status: TenantStatusSummary = msgspec.field(default_factory=TenantStatusSummary)

    def __post_init__(self) -> None:
        force_setattr(self, "status", _shared(self.status))
        force_setattr(self.spec, "template_ref", sys.intern(self.spec.template_ref))
