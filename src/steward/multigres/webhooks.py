"""Admission webhooks: defaulting and validation of clusters, validation of templates.

They give early feedback and are not needed for safety: the reconcilers report everything that the webhooks deny.
Templates are read from the cache, and from the API server if the cache lacks one: users often apply a template together
with the cluster that references it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

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
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION
from steward.multigres.cache_rules import CLUSTER
from steward.multigres.deletion.annotations import is_forced
from steward.multigres.deletion.protection import protection_message
from steward.multigres.resolution.checks.bounded_lists import SHOWN
from steward.multigres.resolution.checks.cluster_size import cluster_size, is_large, object_size_warnings
from steward.multigres.resolution.defaulting import with_defaults, without_stale_defaults
from steward.multigres.resolution.examination import ClusterChange, Examination, examine, is_too_large
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCell, SpecProblem, Templates
from steward.multigres.resolution.template_refs import referenced_templates
from steward.multigres.resolution.validation import validate
from steward.multigres.resolution.warnings.clusters import deletion_warnings, spec_warnings
from steward.multigres.resolution.warnings.repositories import repository_warnings
from steward.multigres.resolution.warnings.templates import template_warnings
from steward.multigres.template_updates.candidate import describe_problems
from steward.multigres.views import ClusterView, TemplateView
from steward.multigres.webhook_templates import (
    SPECS,
    CachedTemplates,
    TemplateContents,
    templates_of,
    with_content,
    with_live_contents,
)
from steward.runtime.compute_thread import compute
from steward.runtime.observability import tracing

T = TypeVar("T")

CellWarnings = Callable[[Iterable[ResolvedCell]], Awaitable[list[str]]]
"""Returns warnings about cells that depend on the state of the Kubernetes cluster."""


class MultigresWebhooks:
    def __init__(
        self,
        client: Client,
        clusters: Store[ClusterView],
        templates: Mapping[Kind, Store[TemplateView]],
        warnings: CellWarnings,
        protect_clusters: bool = False,
    ) -> None:
        self._client = client
        self._protect_clusters = protect_clusters
        self._warnings = warnings
        self._clusters = clusters
        self._templates = templates

    def webhooks(self) -> list[Webhook]:
        cluster, templates = "MultigresCluster", ("CoreTemplate", "CellTemplate", "ShardTemplate")
        return [
            Webhook(
                "/mutate-multigres-com-v1alpha1-multigrescluster",
                self.default_cluster,
                WebhookPurpose.DEFAULT,
                cluster,
            ),
            Webhook("/validate-multigres-com-v1alpha1-multigrescluster", self.validate_cluster, kind=cluster),
            *(
                Webhook(f"/validate-multigres-com-v1alpha1-{kind.lower()}", self.validate_template, kind=kind)
                for kind in templates
            ),
        ]

    async def default_cluster(self, review: Review) -> AdmissionResponse:
        """Leaves a spec that will be denied as it is: the API server checks the schema, with its limits, after this."""
        spec, previous = _decoded_spec(review.object), _decoded_spec(review.old_object)
        if spec is None:
            return Allowed()
        change = ClusterChange(ClusterIdentity(review.namespace, review.name), previous, spec)
        templates = templates_of(self._cached_templates(review.namespace))
        if await _run(is_large(spec), lambda: is_too_large(change, templates)):
            return Allowed()
        changed = {**review.object, "spec": await _run(is_large(spec), lambda: _defaulted(review, templates))}
        _add_trace(review, changed)
        return Allowed(changed)

    async def validate_cluster(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            return self._validate_cluster_deletion(review)
        if _changes_only_metadata(review):
            return Allowed()
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, MultigresClusterSpec)
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        change = ClusterChange(
            ClusterIdentity(review.namespace, review.name),
            _decoded_spec(review.old_object),
            spec,
            is_forced(review.object["metadata"].get("annotations") or {}),
        )
        with tracing.span("Webhook.ValidateLogic"):
            found = await self._examine(change)
        if found.resolved is None:
            return _deny_problems(str(review), found.problems)
        problems = [*found.problems, *self._terminating_problems(review.namespace, found)]
        if problems:
            return _deny_problems(str(review), problems)
        warnings = [
            *object_size_warnings(len(bytes(review.raw_object))),
            *spec_warnings(spec, found.resolved),
            *repository_warnings(found.previous, found.resolved),
            *await self._warnings(found.resolved.cells),
        ]
        return Allowed(warnings=tuple(warnings))

    def _validate_cluster_deletion(self, review: Review) -> AdmissionResponse:
        message = protection_message(review.old_object, self._protect_clusters)
        if message:
            return Denied(message)
        return Allowed(warnings=deletion_warnings(review.options or {}))

    async def _examine(self, change: ClusterChange) -> Examination:
        """With the cached templates, and with the live ones if the cache may lack one."""
        namespace = change.identity.namespace
        found = await self._examine_with(change, self._cached_templates(namespace))
        if found.resolved is None or not found.resolved.problems:
            return found
        referenced = referenced_templates(change.spec)
        with tracing.span("Webhook.ValidateTemplatesExist"):
            contents = await with_live_contents(
                self._client, namespace, self._cached_templates(namespace), referenced
            )
        return await self._examine_with(change, contents)

    async def _examine_with(self, change: ClusterChange, contents: TemplateContents) -> Examination:
        specs = [spec for spec in (change.spec, change.previous) if spec is not None]
        return await _run(any(map(is_large, specs)), lambda: examine(change, templates_of(contents)))

    def _terminating_problems(self, namespace: str, found: Examination) -> list[SpecProblem]:
        """A terminating template cannot be chosen; a cluster that already uses it may still change other fields."""
        assert found.resolved is not None
        previous = {} if found.previous is None else found.previous.templates
        return [
            SpecProblem("spec", f"{kind.kind} {name!r} is being deleted; name another")
            for kind, store in self._templates.items()
            for name in found.resolved.templates[kind.kind]
            if name not in previous.get(kind.kind, ()) and _is_terminating(store.get(Key(namespace, name)))
        ]

    async def validate_template(self, review: Review) -> AdmissionResponse:
        if review.operation is Operation.DELETE:
            return _validate_deletion(review, await self._live_users(review))
        users = await _users(
            review, self._clusters.list(review.namespace), self._cached_templates(review.namespace)
        )
        kind = Kind(API_VERSION, review.kind.kind)
        try:
            content = msgspec.convert(review.object.get("spec") or {}, SPECS[kind])
        except msgspec.ValidationError as error:
            return deny_invalid(f"{review}: {error}")
        return await self._validate_for_users(review, kind, content, users)

    async def _validate_for_users(
        self, review: Review, kind: Kind, content: Any, users: list[ClusterView]
    ) -> AdmissionResponse:
        """Denied only if the change breaks a cluster that is valid now."""
        current = self._cached_templates(review.namespace)
        changed = with_content(current, kind, {review.name: content})
        for cluster in users:
            problems = await _new_problems(cluster, templates_of(current), templates_of(changed))
            if problems:
                # Forbidden, not Invalid: for the latter kubectl prints only the fields, without the cluster.
                return Denied(
                    f"{review} would break MultigresCluster {cluster.metadata.name}: {describe_problems(problems)}"
                )
        return Allowed(warnings=tuple(template_warnings(content)))

    async def _live_users(self, review: Review) -> list[ClusterView]:
        """Read from the API server: a cluster that was just created must not lose its template."""
        listing = await self._client.list(CLUSTER, ListQuery(namespace=review.namespace), ClusterView)
        return await _users(review, listing.items, self._cached_templates(review.namespace))

    def _cached_templates(self, namespace: str) -> TemplateContents:
        return {kind: CachedTemplates(kind, store, namespace) for kind, store in self._templates.items()}


async def _run(is_long: bool, work: Callable[[], T]) -> T:
    """In a thread if it takes long; a namespace has many clusters, so the others get their turn after each one."""
    if is_long:
        return await compute(work)
    await asyncio.sleep(0)
    return work()


async def _users(
    review: Review, clusters: Iterable[ClusterView], contents: TemplateContents
) -> list[ClusterView]:
    """Clusters that use the template now: by name, by default, or because it is called `default`."""
    return [
        cluster
        for cluster in clusters
        if cluster.metadata.deletion_timestamp is None
        and review.name in await _used_templates(cluster, templates_of(contents), review.kind.kind)
    ]


def _add_trace(review: Review, changed: dict[str, Any]) -> None:
    """Annotates a change of the spec with its trace. An unchanged spec gets none: the annotation would be a change."""
    previous = review.old_object.get("spec") if review.operation is Operation.UPDATE else None
    if not tracing.is_enabled() or changed["spec"] == previous:
        return
    annotations = dict(changed["metadata"].get("annotations") or {})
    tracing.TraceAnnotations().inject(annotations, time.time())
    changed["metadata"] = {**changed["metadata"], "annotations": annotations}


def _decoded_spec(manifest: Mapping[str, Any]) -> MultigresClusterSpec | None:
    """None without a spec, and for a spec that only an older schema allowed."""
    try:
        return msgspec.convert(manifest["spec"], MultigresClusterSpec) if manifest.get("spec") else None
    except msgspec.ValidationError:
        return None


def _defaulted(review: Review, templates: Templates) -> dict[str, Any]:
    is_update = review.operation is Operation.UPDATE
    spec = without_stale_defaults(review.object["spec"]) if is_update else review.object["spec"]
    return with_defaults(spec, templates, review.old_object.get("spec"))


def _changes_only_metadata(review: Review) -> bool:
    """Finalizers and annotations may always change, even if the templates have become invalid."""
    if review.operation is not Operation.UPDATE:
        return False
    is_terminating = bool(review.object["metadata"].get("deletionTimestamp"))
    return is_terminating or review.object.get("spec") == review.old_object.get("spec")


def _is_terminating(template: TemplateView | None) -> bool:
    return template is not None and template.metadata.deletion_timestamp is not None


async def _new_problems(cluster: ClusterView, current: Templates, changed: Templates) -> list[SpecProblem]:
    """Problems that the changed templates cause; none if the cluster has problems already."""
    spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)

    def compare() -> list[SpecProblem]:
        before = resolve(identity, spec, current)
        accepted = cluster_size(before).components
        if validate(spec, before, accepted):
            return []
        return validate(spec, resolve(identity, spec, changed), accepted)

    return await _run(is_large(spec), compare)


async def _used_templates(cluster: ClusterView, templates: Templates, kind: str) -> tuple[str, ...]:
    spec = _decoded_spec({"spec": cluster.spec})
    if spec is None:
        return ()
    identity = ClusterIdentity(cluster.metadata.namespace, cluster.metadata.name)
    return await _run(is_large(spec), lambda: resolve(identity, spec, templates).templates[kind])


def _deny_problems(subject: str, problems: list[SpecProblem]) -> Denied:
    return deny_invalid(
        f"{subject}: {describe_problems(problems)}",
        *(StatusCause(problem.field, problem.message) for problem in problems[:SHOWN]),
    )


def _validate_deletion(review: Review, users: list[ClusterView]) -> AdmissionResponse:
    if not users:
        return Allowed()
    names = ", ".join(sorted(user.metadata.name for user in users))
    return Denied(f"{review} is in use by MultigresCluster {names}: point them at another template first")
