"""What a Tenant may write: `permissions` for all, and narrower limits for templates without a service account. Pure.

Without a service account, objects are written with the rights of the operator. So the operator limits them:

    the Tenant's own namespace        always open
    a namespace of the same template  a Tenant of the template, in the same namespace, created it
    another namespace                 its owner has set the label `allow-templates-from`
    no namespace                      only Namespaces, and none that existed before
    pods                              Pod Security `baseline`, and only accounts that the Tenant created

A Tenant with a service account has the rights of that account, as the API server decides.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from steward.kube.objects.kinds import CONTROLLER_REVISION, NAMESPACE, SERVICE_ACCOUNT, Key, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.group import GROUP
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, ORPHANED_FROM, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.desired import DesiredObject
from steward.tenants.objects.orphans import TenantOwner, is_owned
from steward.tenants.objects.ownership import is_orphan
from steward.tenants.objects.permissions import (
    CLUSTER_SCOPE,
    Permissions,
    credential_problem,
    permission_problem,
)
from steward.tenants.objects.pod_security import service_accounts, unsafe_field

ACCOUNT_CURE: Final = "set serviceAccountName in the template to an account with the right"
_SEPARATOR: Final = "_"


class Refusal(NamedTuple):
    """Why an object may not be written."""

    message: str
    is_pending: bool = False
    """It waits for an object that the same Tenant creates."""


class LiveScope(Protocol):
    """What the cluster says about namespaces, Tenants and accounts."""

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """The labels of a Namespace that has tracking labels or the allow label; none for every other name."""

    def template_of(self, tenant: Key) -> str:
        """The template of a Tenant; empty if there is no such Tenant."""

    def account(self, key: Key) -> ObjectMeta | None:
        """A ServiceAccount with tracking labels."""


class TenantScope(NamedTuple):
    """A Tenant, and the objects of its spec that widen what it may write."""

    owner: TenantOwner
    template: str
    service_account: str = ""
    namespaces: frozenset[str] = frozenset()
    """Namespaces that its spec creates."""
    accounts: frozenset[Key] = frozenset()
    """ServiceAccounts that its spec creates."""

    def with_objects(self, desired: Iterable[DesiredObject]) -> "TenantScope":
        refs = [each.ref for each in desired]
        return self._replace(
            namespaces=frozenset(ref.key.name for ref in refs if ref.kind == NAMESPACE),
            accounts=frozenset(ref.key for ref in refs if ref.kind == SERVICE_ACCOUNT),
        )


class TenantAccess(NamedTuple):
    """What one Tenant may write, given the flags and the cluster."""

    scope: TenantScope
    permissions: Permissions
    live: LiveScope

    @property
    def is_limited(self) -> bool:
        """Whether the operator, and not the API server, decides."""
        return not self.scope.service_account and self.permissions.template_scope != CLUSTER_SCOPE

    def refusal(self, desired: DesiredObject) -> Refusal | None:
        """Why an object may not be written; None if it may."""
        ref = desired.ref
        if problem := permission_problem(ref, self.scope.owner.namespace, self.permissions):
            return Refusal(problem)
        if problem := credential_problem(desired.manifest):
            return Refusal(f"{ref}: {problem}")
        if not self.is_limited:
            return None
        return _kind_refusal(ref) or self._namespace_refusal(ref) or self._pod_refusal(ref, desired.manifest)

    def _namespace_refusal(self, ref: Ref) -> Refusal | None:
        namespace = ref.key.namespace
        if not namespace or self.may_write_to(namespace):
            return None
        if namespace in self.scope.namespaces:
            return Refusal(f"waits until the Tenant has created Namespace {namespace}", is_pending=True)
        # The same message whether or not the namespace, or the object in it, exists.
        return Refusal(f"{ref}: {closed_namespace_message(namespace, self.scope.owner.namespace)}")

    def may_write_to(self, namespace: str) -> bool:
        home = self.scope.owner.namespace
        if namespace == home:
            return True
        labels = self.live.namespace_labels(namespace)
        return self._is_of_template(labels) or home in allowed_namespaces(labels)

    def _is_of_template(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels name this Tenant, or another Tenant of its template in the same namespace."""
        owner, tenant = self.scope.owner, labels.get(TENANT)
        if tenant is None or labels.get(TENANT_NAMESPACE) != owner.namespace:
            return False
        return (
            tenant == owner.name or self.live.template_of(Key(owner.namespace, tenant)) == self.scope.template
        )

    def _pod_refusal(self, ref: Ref, manifest: Manifest) -> Refusal | None:
        if unsafe := unsafe_field(manifest):
            return Refusal(f"{ref}: {unsafe}, which Pod Security baseline forbids; {ACCOUNT_CURE}")
        for path, name in service_accounts(manifest):
            key = Key(ref.key.namespace, name)
            account = self.live.account(key)
            if account is not None and is_owned(account, self.scope.owner):
                continue
            if key in self.scope.accounts:
                return Refusal(f"waits until the Tenant has created ServiceAccount {key}", is_pending=True)
            return Refusal(f"{ref}: {foreign_account_message(path, name)}")
        return None

    def needs_takeover(self, ref: Ref, meta: ObjectMeta) -> bool:
        """Whether an existing object is not this Tenant's own yet."""
        owner = self.scope.owner
        if ref.kind != NAMESPACE:
            return not is_owned(meta, owner)
        # A Namespace cannot have a Tenant as its owner: a reference to one proves nothing.
        tracked = (meta.labels.get(TENANT), meta.labels.get(TENANT_NAMESPACE))
        return tracked != (owner.name, owner.namespace)

    def identity_problem(self, ref: Ref, meta: ObjectMeta) -> str:
        """Why an existing Namespace or ServiceAccount may not become this Tenant's, by force or as an orphan: it would
        open the namespace to the template, or let its pods run as the account."""
        if not self.is_limited or ref.kind not in (NAMESPACE, SERVICE_ACCOUNT):
            return ""
        is_own_orphan = is_orphan(meta) and meta.annotations.get(ORPHANED_FROM) == self.scope.owner.namespace
        if is_own_orphan or self._is_of_template(meta.labels):
            return ""
        return f"{ref} exists already, and no Tenant of this template created it; choose another name in nameTemplate"

    def content_problem(self, ref: Ref, live: Manifest) -> str:
        """Why the content of an existing object keeps the Tenant from taking it over. Fields that the template does not
        set would stay: a privileged pod would run the template's image."""
        if problem := credential_problem(live):
            return f"{ref} cannot be taken over: {problem}"
        refusal = self._pod_refusal(ref, live) if self.is_limited else None
        return "" if refusal is None else f"it cannot be taken over: {refusal.message}"


def _kind_refusal(ref: Ref) -> Refusal | None:
    kind = ref.kind
    if not ref.key.namespace and kind != NAMESPACE:
        return Refusal(f"{ref}: {cluster_scoped_message()}")
    if is_steering_kind(kind.group, kind.kind):
        return Refusal(f"{ref}: {steering_kind_message(kind.kind)}")
    return None


def is_steering_kind(group: str, kind: str) -> bool:
    """Whether a template could act through an object of this kind as another template, with that template's namespace
    and service account: the kinds of this operator, and the revisions of templates."""
    return group == GROUP or (group, kind) == (CONTROLLER_REVISION.group, CONTROLLER_REVISION.kind)


def steering_kind_message(kind: str) -> str:
    return f"templates may not hold a {kind}, which decides what other templates write; {ACCOUNT_CURE}"


def cluster_scoped_message() -> str:
    return f"is not in a namespace, and of such kinds templates may hold only Namespaces; {ACCOUNT_CURE}"


def closed_namespace_message(namespace: str, home: str) -> str:
    return (
        f"namespace {namespace} is not open to templates of {home}; its owner can set the label "
        f"{ALLOW_TEMPLATES_FROM}={home} on it, or {ACCOUNT_CURE}"
    )


def foreign_account_message(path: str, account: str) -> str:
    return (
        f"{path} is {account}, an account that the Tenant does not create; add it to serviceAccounts of the template, "
        f"or {ACCOUNT_CURE}"
    )


def allowed_namespaces(labels: Mapping[str, str]) -> frozenset[str]:
    """The namespaces whose templates the owner of a Namespace has let in."""
    return frozenset(labels.get(ALLOW_TEMPLATES_FROM, "").split(_SEPARATOR)) - {""}
