"""What Steward reads of each kind, and nothing else: what is not declared here never becomes a Python object.

What users write is kept as it came and typed when it is used: an object that an older schema let in must end as a
sentence in its own status, not as a hole in the cache. Of a Tenant only what is asked of the whole fleet is kept: its
body, by far the largest part, is read from the server by whoever applies it.
"""

from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.objects.conditions import Condition
from steward.kube.objects.meta import ObjectMeta


class Registry(Struct, frozen=True):
    """A TenantRegistry, unread."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Template(Struct, frozen=True):
    """A TenantTemplate, unread."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class Revision(Struct, frozen=True):
    """A version of a template's spec, as a ControllerRevision keeps it."""

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
    """0: not rendered by us."""
    values: ValuesSummary = ValuesSummary()
    render_failure: dict[str, Any] = {}


class TenantStatusSummary(Struct, frozen=True, rename="camel"):
    observed_generation: int = 0
    desired_resources: int = 0
    ready_resources: int = 0
    failed_resources: int = 0
    conflicted_resources: int = 0
    conditions: tuple[Condition, ...] = ()


class Tenant(Struct, frozen=True):
    """A Tenant without its objects."""

    metadata: ObjectMeta
    spec: TenantSpecSummary = TenantSpecSummary()
    status: TenantStatusSummary = msgspec.field(default_factory=TenantStatusSummary)
