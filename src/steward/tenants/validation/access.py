"""What a template must not or may not write, as far as its text shows. Pure.

`refused_fields` is refused by every operator. `access_advice` is only advice: labels of Namespaces, service accounts
and flags decide about it, and a template is often applied before they are set. Values with templates in them are left
to the Tenant controller, which checks every rendered object (`objects.access`).
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from steward.kube.objects.kinds import NAMESPACE, SERVICE_ACCOUNT, Kind
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.access import (
    ACCOUNT_CURE,
    closed_namespace_message,
    cluster_scoped_message,
    foreign_account_message,
    is_steering_kind,
    steering_kind_message,
)
from steward.tenants.objects.permissions import (
    CLUSTER_SCOPE,
    Permissions,
    credential_problem,
    is_restricted,
    reserved_namespace_problem,
)
from steward.tenants.objects.pod_security import service_accounts, unsafe_field
from steward.tenants.rendering.object_shape import is_too_deep
from steward.tenants.validation.problems import Problem, ResourcePosition, resource_positions

CLUSTER_SCOPED_KINDS: Final = frozenset(
    {
        ("", "Node"),
        ("", "PersistentVolume"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("networking.k8s.io", "IngressClass"),
        ("node.k8s.io", "RuntimeClass"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Built-in kinds without a namespace that grant no rights: those that do are restricted anyway."""


def refused_fields(spec: TenantTemplateSpec, permissions: Permissions) -> list[Problem]:
    """What no operator writes, whatever its flags and whatever service account the template names."""
    return [problem for position in _readable(spec) for problem in _refused_fields(position, permissions)]


def _refused_fields(position: ResourcePosition, permissions: Permissions) -> Iterator[Problem]:
    if credential := credential_problem(position.resource.spec):
        yield Problem(f"{position.field}.spec.type", credential)
    is_namespace = _kind(position) == NAMESPACE
    field = _name_field(position) if is_namespace else f"{position.field}.targetNamespace"
    target = _name(position) if is_namespace else _text(position.resource.target_namespace)
    if reserved := reserved_namespace_problem(target, permissions):
        yield Problem(field, reserved)


def access_advice(spec: TenantTemplateSpec, home: str, permissions: Permissions) -> list[Problem]:
    """What the Tenants of the template will not be allowed to write as things are. `home`: the template's namespace."""
    positions = _readable(spec)
    restricted = [each for each in positions if is_restricted(_kind(each), permissions)]
    found = [Problem(f"{each.field}.spec.kind", _restricted_message(each)) for each in restricted]
    account = spec.service_account_name
    if permissions.template_scope == CLUSTER_SCOPE or (account is not UNSET and account):
        return found
    created = [_name(each) for each in positions if _kind(each) == NAMESPACE]
    accounts = [_name(each) for each in positions if _kind(each) == SERVICE_ACCOUNT]
    for each in positions:
        found += _kind_advice(each)
        found += _namespace_advice(each, [home, *created])
        found += _pod_advice(each, accounts)
    return found


def _restricted_message(position: ResourcePosition) -> str:
    return f"a {_kind(position).kind} grants rights and is not applied; allow it with --allow-kinds"


def _kind_advice(position: ResourcePosition) -> Iterator[Problem]:
    kind = _kind(position)
    field = f"{position.field}.spec.kind"
    if (kind.group, kind.kind) in CLUSTER_SCOPED_KINDS:
        yield Problem(field, cluster_scoped_message())
    elif is_steering_kind(kind.group, kind.kind):
        yield Problem(field, steering_kind_message(kind.kind))


def _namespace_advice(position: ResourcePosition, is_open: Iterable[str]) -> Iterator[Problem]:
    namespace = _text(position.resource.target_namespace)
    if (
        namespace
        and not _is_template(namespace)
        and namespace not in is_open
        and _kind(position) != NAMESPACE
    ):
        home = next(iter(is_open)) or "this namespace"
        yield Problem(f"{position.field}.targetNamespace", closed_namespace_message(namespace, home))


def _pod_advice(position: ResourcePosition, accounts: Iterable[str]) -> Iterator[Problem]:
    body = position.resource.spec
    if unsafe := unsafe_field(body):
        message = f"{unsafe}, which Pod Security baseline forbids; {ACCOUNT_CURE}"
        yield Problem(f"{position.field}.spec", message)
    for path, name in service_accounts(body):
        if name not in accounts and not _is_template(name):
            yield Problem(f"{position.field}.spec.{path}", foreign_account_message(path, name))


def _readable(spec: TenantTemplateSpec) -> list[ResourcePosition]:
    """Objects without a kind, or nested too deeply, are problems that `validate_template` reports."""
    return [
        each
        for each in resource_positions(spec)
        if not is_too_deep(each.resource.spec)
        and all(isinstance(each.resource.spec.get(name), str) for name in ("apiVersion", "kind"))
    ]


def _kind(position: ResourcePosition) -> Kind:
    body = position.resource.spec
    return Kind(body["apiVersion"], body["kind"])


def _name(position: ResourcePosition) -> str:
    """The name or the template of the name: equal templates make equal names."""
    metadata = position.resource.spec.get("metadata")
    inside = metadata.get("name") if isinstance(metadata, dict) else ""
    return _text(position.resource.name_template) or (inside if isinstance(inside, str) else "")


def _name_field(position: ResourcePosition) -> str:
    has_template = bool(_text(position.resource.name_template))
    return f"{position.field}.{'nameTemplate' if has_template else 'spec.metadata.name'}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_template(text: str) -> bool:
    return "{{" in text
