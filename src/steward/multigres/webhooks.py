"""Admission webhooks: defaulting and validation of clusters, validation of templates.

They give early feedback and are not needed for safety: the reconcilers report everything that the webhooks deny.
Templates are read from the cache, and from the API server if the cache lacks one: users often apply a template together
with the cluster that references it.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from steward.admission.review import (
    AdmissionResponse,
    Allowed,
    Denied,
    Operation,
    Review,
    StatusCause,
    deny_invalid,
)
from steward.admission.server import Webhook, WebhookPurpose
from steward.kube.cache.store import Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.defaulting import with_defaults, without_stale_defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import (
    ClusterIdentity,
    ResolvedCell,
    ResolvedCluster,
    SpecProblem,
    Templates,
)
from steward.multigres.resolution.validation import validate, validate_update
from steward.multigres.resolution.warnings import deletion_warnings, spec_warnings
from steward.multigres.views import ClusterView, TemplateView
from steward.runtime.observability import tracing

SPECS: dict[Kind, type[Any]] = {
    CORE_TEMPLATE: CoreTemplateSpec,
    CELL_TEMPLATE: CellTemplateSpec,
    SHARD_TEMPLATE: ShardTemplateSpec,
}
TemplateContents = dict[Kind, dict[str, Any]]
CellWarnings = Callable[[Iterable[ResolvedCell]], Awaitable[list[str]]]
"""Returns warnings about cells that depend on the state of the Kubernetes cluster."""


class MultigresWebhooks:
    def __init__(
        self,
        client: Client,
        clusters: Store[ClusterView],
        templates: Mapping[Kind, Store[TemplateView]],
        warnings: CellWarnings,
    ) -> None:
        self._client = client
        self._warnings = warnings
        self._clusters = clusters
        self._templates = templates

    def webhooks(self) -> list[Webhook]:
        validated = ("coretemplate", "celltemplate", "shardtemplate")
        return [
            Webhook(
                "/mutate-multigres-com-v1alpha1-multigrescluster",
                self.default_cluster,
                WebhookPurpose.DEFAULT,
            ),
            Webhook("/validate-multigres-com-v1alpha1-multigrescluster", self.validate_cluster),
            *(
                Webhook(f"/validate-multigres-com-v1alpha1-{kind}", self.validate_template)
                for kind in validated
            ),
        ]

    async def default_cluster(self, review: Review) -> AdmissionResponse:
        changed = dict(review.object)
        spec = changed.get("spec") or {}
        if review.operation is Operation.UPDATE:
            spec = without_stale_defaults(spec)
        previous = review.old_object.get("spec")
        changed["spec"] = with_defaults(
            spec, _templates_of(self._cached_templates(review.namespace)), previous
        )
        _add_trace(review, changed)
        return Allowed(changed)

    async def validate_cluster(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            return Allowed(warnings=deletion_warnings(review.options or {}))
        if _changes_only_metadata(review):
            return Allowed()
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, MultigresClusterSpec)
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        contents = self._cached_templates(review.namespace)
        resolved = _resolved(review, spec, contents)
        if resolved.problems:
            contents = await self._live_templates(review.namespace)
            resolved = _resolved(review, spec, contents)
        problems = [*validate(spec, resolved), *_update_problems(review, resolved, contents)]
        problems += self._terminating_problems(review, resolved, contents)
        if problems:
            return _deny_problems(str(review), problems)
        return Allowed(warnings=(*spec_warnings(spec, resolved), *await self._warnings(resolved.cells)))

    def _terminating_problems(
        self, review: Review, resolved: ResolvedCluster, contents: TemplateContents
    ) -> list[SpecProblem]:
        """A terminating template cannot be chosen; a cluster that already uses it may still change other fields."""
        previous = _previous_templates(review, contents)
        return [
            SpecProblem("spec", f"{kind.kind} {name!r} is being deleted; name another")
            for kind, store in self._templates.items()
            for name in resolved.templates[kind.kind]
            if (kind.kind, name) not in previous and _is_terminating(store.get(Key(review.namespace, name)))
        ]

    async def validate_template(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            return _validate_deletion(review, await self._live_users(review))
        users = _users(
            review, self._clusters.list(review.namespace), self._cached_templates(review.namespace)
        )
        kind = Kind(f"{review.kind.group}/{review.kind.version}", review.kind.kind)
        try:
            content = msgspec.convert(review.object.get("spec") or {}, SPECS[kind])
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        return self._validate_for_users(review, kind, content, users)

    def _validate_for_users(
        self, review: Review, kind: Kind, content: Any, users: list[ClusterView]
    ) -> AdmissionResponse:
        """Denied only if the change breaks a cluster that is valid now."""
        current = self._cached_templates(review.namespace)
        changed = {**current, kind: {**current[kind], review.name: content}}
        for cluster in users:
            existing, problems = _problems(cluster, current), _problems(cluster, changed)
            if problems and not existing:
                # Forbidden, not Invalid: for the latter kubectl prints only the fields, without the cluster.
                return Denied(
                    f"{review} would break MultigresCluster {cluster.metadata.name}: {_problem_message(problems)}"
                )
        return Allowed()

    async def _live_users(self, review: Review) -> list[ClusterView]:
        """Read from the API server: a cluster that was just created must not lose its template."""
        listing = await self._client.list(CLUSTER, ListQuery(namespace=review.namespace), ClusterView)
        return _users(review, listing.items, await self._live_templates(review.namespace))

    def _cached_templates(self, namespace: str) -> TemplateContents:
        return {
            kind: {
                template.metadata.name: content
                for template in store.list(namespace)
                if (content := _content(kind, template.spec))
            }
            for kind, store in self._templates.items()
        }

    async def _live_templates(self, namespace: str) -> TemplateContents:
        templates: TemplateContents = {}
        for kind in self._templates:
            listing = await self._client.list(kind, ListQuery(namespace=namespace), TemplateView)
            contents = {item.metadata.name: _content(kind, item.spec) for item in listing.items}
            templates[kind] = {name: content for name, content in contents.items() if content is not None}
        return templates


def _users(review: Review, clusters: Iterable[ClusterView], contents: TemplateContents) -> list[ClusterView]:
    """Clusters that use the template now: by name, by default, or because it is called `default`."""
    return [
        cluster
        for cluster in clusters
        if cluster.metadata.deletion_timestamp is None
        and review.name in _used_templates(cluster, contents, review.kind.kind)
    ]


def _add_trace(review: Review, changed: dict[str, Any]) -> None:
    """Annotates a change of the spec with its trace. An unchanged spec gets none: the annotation would be a change."""
    previous = review.old_object.get("spec") if review.operation is Operation.UPDATE else None
    if not tracing.is_enabled() or changed["spec"] == previous:
        return
    annotations = dict(changed["metadata"].get("annotations") or {})
    tracing.TraceAnnotations().inject(annotations, time.time())
    changed["metadata"] = {**changed["metadata"], "annotations": annotations}


def _content(kind: Kind, spec: dict[str, Any]) -> Any:
    """None for content that only an older schema allowed: it must not block the review of other objects."""
    try:
        return msgspec.convert(spec, SPECS[kind])
    except msgspec.ValidationError:
        return None


def _templates_of(contents: TemplateContents) -> Templates:
    return Templates(contents[CORE_TEMPLATE], contents[CELL_TEMPLATE], contents[SHARD_TEMPLATE])


def _resolved(review: Review, spec: MultigresClusterSpec, contents: TemplateContents) -> ResolvedCluster:
    return resolve(ClusterIdentity(review.namespace, review.name), spec, _templates_of(contents))


def _changes_only_metadata(review: Review) -> bool:
    """Finalizers and annotations may always change, even if the templates have become invalid."""
    if review.operation is not Operation.UPDATE:
        return False
    is_terminating = bool(review.object["metadata"].get("deletionTimestamp"))
    return is_terminating or review.object.get("spec") == review.old_object.get("spec")


def _is_terminating(template: TemplateView | None) -> bool:
    return template is not None and template.metadata.deletion_timestamp is not None


def _previous_templates(review: Review, contents: TemplateContents) -> set[tuple[str, str]]:
    if review.operation is not Operation.UPDATE:
        return set()
    try:
        old = msgspec.convert(review.old_object.get("spec") or {}, MultigresClusterSpec)
    except msgspec.ValidationError:
        return set()
    used = _resolved(review, old, contents).templates
    return {(kind, name) for kind, names in used.items() for name in names}


def _update_problems(
    review: Review, resolved: ResolvedCluster, contents: TemplateContents
) -> list[SpecProblem]:
    if review.operation is not Operation.UPDATE:
        return []
    try:
        old = msgspec.convert(review.old_object.get("spec") or {}, MultigresClusterSpec)
    except msgspec.ValidationError:
        return []
    previous = _resolved(review, old, contents)
    return [] if previous.problems else validate_update(previous, resolved)


def _problems(cluster: ClusterView, contents: TemplateContents) -> list[SpecProblem]:
    spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)
    return validate(spec, resolve(identity, spec, _templates_of(contents)))


def _used_templates(cluster: ClusterView, contents: TemplateContents, kind: str) -> tuple[str, ...]:
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return ()
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)
    return resolve(identity, spec, _templates_of(contents)).templates[kind]


def _deny_problems(subject: str, problems: list[SpecProblem]) -> Denied:
    return deny_invalid(
        f"{subject}: {_problem_message(problems)}",
        *(StatusCause(problem.field, problem.message) for problem in problems),
    )


def _problem_message(problems: list[SpecProblem]) -> str:
    return "; ".join(f"{problem.field}: {problem.message}" for problem in problems)


def _validate_deletion(review: Review, users: list[ClusterView]) -> AdmissionResponse:
    if not users:
        return Allowed()
    names = ", ".join(sorted(user.metadata.name for user in users))
    return Denied(f"{review} is in use by MultigresCluster {names}: point them at another template first")
