"""The webhooks of multigres: a courtesy, not a wall. What they refuse, reconcile would refuse as well, only later.

Templates are read from the cache, and live where the cache lacks a name: a template and the cluster that names it are
often applied in one breath.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec

from steward.admission.review import Allowed, Cause, Denied, Operation, Review, Verdict, invalid
from steward.admission.server import Webhook, Work
from steward.kube.cache.store import Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.core_template import CoreTemplateSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.defaulting import taken_back, with_defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, Problem, ResolvedCell, ResolvedCluster, Templates
from steward.multigres.resolution.validation import validate, validate_update
from steward.multigres.resolution.warnings import advice, deletion_advice
from steward.multigres.views import ClusterView, TemplateView
from steward.runtime.observability import tracing

SPECS: dict[Kind, type[Any]] = {
    CORE_TEMPLATE: CoreTemplateSpec,
    CELL_TEMPLATE: CellTemplateSpec,
    SHARD_TEMPLATE: ShardTemplateSpec,
}
Contents = dict[Kind, dict[str, Any]]
Warnings = Callable[[Iterable[ResolvedCell]], Awaitable[list[str]]]
"""What only the world around can tell of cells."""


class MultigresWebhooks:
    def __init__(
        self,
        client: Client,
        clusters: Store[ClusterView],
        templates: Mapping[Kind, Store[TemplateView]],
        warnings: Warnings,
    ) -> None:
        self._client = client
        self._warnings = warnings
        self._clusters = clusters
        self._templates = templates

    def webhooks(self) -> list[Webhook]:
        validated = ("coretemplate", "celltemplate", "shardtemplate")
        return [
            Webhook("/mutate-multigres-com-v1alpha1-multigrescluster", self.default_cluster, Work.DEFAULT),
            Webhook("/validate-multigres-com-v1alpha1-multigrescluster", self.validate_cluster),
            *(
                Webhook(f"/validate-multigres-com-v1alpha1-{kind}", self.validate_template)
                for kind in validated
            ),
        ]

    async def default_cluster(self, review: Review) -> Verdict:
        changed = dict(review.object)
        spec = changed.get("spec") or {}
        if review.operation is Operation.UPDATE:
            spec = taken_back(spec)
        before = review.old_object.get("spec")
        changed["spec"] = with_defaults(spec, _typed(self._cached(review.namespace)), before)
        _leave_trace(review, changed)
        return Allowed(changed)

    async def validate_cluster(self, review: Review) -> Verdict:
        if review.operation is Operation.DELETE:
            return Allowed(warnings=deletion_advice(review.options or {}))
        if _only_metadata(review):
            return Allowed()
        try:
            spec = msgspec.convert(review.object.get("spec") or {}, MultigresClusterSpec)
        except msgspec.ValidationError as error:
            return invalid(f"{review}: {error}")
        contents = self._cached(review.namespace)
        resolved = _resolved(review, spec, contents)
        if resolved.problems:
            contents = await self._live(review.namespace)
            resolved = _resolved(review, spec, contents)
        problems = [*validate(spec, resolved), *_change_problems(review, resolved, contents)]
        problems += self._leaving(review, resolved, contents)
        if problems:
            return _refusal(str(review), problems)
        return Allowed(warnings=(*advice(spec, resolved), *await self._warnings(resolved.cells)))

    def _leaving(self, review: Review, resolved: ResolvedCluster, contents: Contents) -> list[Problem]:
        """Templates on their way out are no choice any more; who used them before may go on changing other things."""
        before = _templates_before(review, contents)
        return [
            Problem("spec", f"{kind.kind} {name!r} is being deleted; name another")
            for kind, store in self._templates.items()
            for name in resolved.templates[kind.kind]
            if (kind.kind, name) not in before and _is_leaving(store.get(Key(review.namespace, name)))
        ]

    async def validate_template(self, review: Review) -> Verdict:
        if review.operation is Operation.DELETE:
            return _deletion(review, await self._live_users(review))
        users = _users(review, self._clusters.list(review.namespace), self._cached(review.namespace))
        kind = Kind(f"{review.kind.group}/{review.kind.version}", review.kind.kind)
        try:
            content = msgspec.convert(review.object.get("spec") or {}, SPECS[kind])
        except msgspec.ValidationError as error:
            return invalid(f"{review}: {error}")
        return self._effect_on_users(review, kind, content, users)

    def _effect_on_users(self, review: Review, kind: Kind, content: Any, users: list[ClusterView]) -> Verdict:
        """Refused only if the change breaks a cluster that is sound today."""
        before = self._cached(review.namespace)
        after = {**before, kind: {**before[kind], review.name: content}}
        for cluster in users:
            sound, problems = _problems(cluster, before), _problems(cluster, after)
            if problems and not sound:
                # Forbidden, not Invalid: for the latter kubectl prints the fields alone, and not whose they are.
                return Denied(
                    f"{review} would break MultigresCluster {cluster.metadata.name}: {_told(problems)}"
                )
        return Allowed()

    async def _live_users(self, review: Review) -> list[ClusterView]:
        """Asked of the server: a cluster of a moment ago must not lose its template."""
        listing = await self._client.list(CLUSTER, ListQuery(namespace=review.namespace), ClusterView)
        return _users(review, listing.items, await self._live(review.namespace))

    def _cached(self, namespace: str) -> Contents:
        return {
            kind: {
                seen.metadata.name: content
                for seen in store.list(namespace)
                if (content := _content(kind, seen.spec))
            }
            for kind, store in self._templates.items()
        }

    async def _live(self, namespace: str) -> Contents:
        found: Contents = {}
        for kind in self._templates:
            listing = await self._client.list(kind, ListQuery(namespace=namespace), TemplateView)
            known = {item.metadata.name: _content(kind, item.spec) for item in listing.items}
            found[kind] = {name: content for name, content in known.items() if content is not None}
        return found


def _users(review: Review, clusters: Iterable[ClusterView], contents: Contents) -> list[ClusterView]:
    """Clusters that use the template now: by name, by default, or because it is called `default`."""
    return [
        cluster
        for cluster in clusters
        if cluster.metadata.deletion_timestamp is None
        and review.name in _used(cluster, contents, review.kind.kind)
    ]


def _leave_trace(review: Review, changed: dict[str, Any]) -> None:
    """For the reconcile that this change causes; a change that causes none must not be made one by its trace."""
    before = review.old_object.get("spec") if review.operation is Operation.UPDATE else None
    if not tracing.is_on() or changed["spec"] == before:
        return
    annotations = dict(changed["metadata"].get("annotations") or {})
    tracing.Bridge().inject(annotations, time.time())
    changed["metadata"] = {**changed["metadata"], "annotations": annotations}


def _content(kind: Kind, spec: dict[str, Any]) -> Any:
    """None for content that an older schema let in: it must not keep others from being reviewed."""
    try:
        return msgspec.convert(spec, SPECS[kind])
    except msgspec.ValidationError:
        return None


def _typed(contents: Contents) -> Templates:
    return Templates(contents[CORE_TEMPLATE], contents[CELL_TEMPLATE], contents[SHARD_TEMPLATE])


def _resolved(review: Review, spec: MultigresClusterSpec, contents: Contents) -> ResolvedCluster:
    return resolve(Identity(review.namespace, review.name), spec, _typed(contents))


def _only_metadata(review: Review) -> bool:
    """Finalizers and annotations come and go, whatever has become of the templates meanwhile."""
    if review.operation is not Operation.UPDATE:
        return False
    is_going = bool(review.object["metadata"].get("deletionTimestamp"))
    return is_going or review.object.get("spec") == review.old_object.get("spec")


def _is_leaving(seen: TemplateView | None) -> bool:
    return seen is not None and seen.metadata.deletion_timestamp is not None


def _templates_before(review: Review, contents: Contents) -> set[tuple[str, str]]:
    if review.operation is not Operation.UPDATE:
        return set()
    try:
        old = msgspec.convert(review.old_object.get("spec") or {}, MultigresClusterSpec)
    except msgspec.ValidationError:
        return set()
    used = _resolved(review, old, contents).templates
    return {(kind, name) for kind, names in used.items() for name in names}


def _change_problems(review: Review, after: ResolvedCluster, contents: Contents) -> list[Problem]:
    if review.operation is not Operation.UPDATE:
        return []
    try:
        old = msgspec.convert(review.old_object.get("spec") or {}, MultigresClusterSpec)
    except msgspec.ValidationError:
        return []
    before = _resolved(review, old, contents)
    return [] if before.problems else validate_update(before, after)


def _problems(cluster: ClusterView, contents: Contents) -> list[Problem]:
    spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    identity = Identity(cluster.metadata.namespace, cluster.metadata.name)
    return validate(spec, resolve(identity, spec, _typed(contents)))


def _used(cluster: ClusterView, contents: Contents, kind: str) -> tuple[str, ...]:
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return ()
    identity = Identity(cluster.metadata.namespace, cluster.metadata.name)
    return resolve(identity, spec, _typed(contents)).templates[kind]


def _refusal(what: str, problems: list[Problem]) -> Denied:
    return invalid(
        f"{what}: {_told(problems)}", *(Cause(problem.field, problem.message) for problem in problems)
    )


def _told(problems: list[Problem]) -> str:
    return "; ".join(f"{problem.field}: {problem.message}" for problem in problems)


def _deletion(review: Review, users: list[ClusterView]) -> Verdict:
    if not users:
        return Allowed()
    names = ", ".join(sorted(user.metadata.name for user in users))
    return Denied(f"{review} is in use by MultigresCluster {names}: point them at another template first")
