"""From what a user wrote to what is wanted, on the contents of templates that are in force for the cluster."""

import datetime
from collections import OrderedDict
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import key_of
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.resolution.defaults import DEFAULT_TEMPLATE
from steward.multigres.resolution.external_refs import Missing
from steward.multigres.resolution.resolved import Identity, ResolvedCluster
from steward.multigres.resolution.template_refs import mentioned
from steward.multigres.status.conditions import Piece, Stall
from steward.multigres.template_updates.candidate import SPECS, WINDOW, Situation
from steward.multigres.template_updates.policy import Decision, decide
from steward.multigres.template_updates.revisions import Content, TemplateKey, read_revision
from steward.multigres.views import ClusterView, TemplateView

REMEMBERED = 64


class Wanted(NamedTuple):
    """What a spec asks for: everything resolved, or the reason why it cannot be carried out."""

    spec: MultigresClusterSpec
    resolved: ResolvedCluster | None
    stall: Stall | None
    decision: Decision | None = None
    missing: tuple[Missing, ...] = ()
    going: tuple[Piece, ...] = ()
    """What is asked for and being deleted all the same."""


class Resolution:
    def __init__(self, context: ControllerContext) -> None:
        rules = context.rules
        self._templates = {
            "CoreTemplate": context.store(rules.core_template),
            "CellTemplate": context.store(rules.cell_template),
            "ShardTemplate": context.store(rules.shard_template),
        }
        self._revisions = context.store(rules.revision)
        self._clock = context.clock
        self._known: OrderedDict[Key, tuple[Situation, Wanted]] = OrderedDict()

    def of(self, cluster: ClusterView) -> Wanted:
        try:
            spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
        except msgspec.ValidationError as error:
            return Wanted(MultigresClusterSpec(), None, Stall(reasons.INVALID_SPEC, str(error)))
        return self._decided(key_of(cluster), self._situation(cluster, spec))

    def _decided(self, key: Key, at: Situation) -> Wanted:
        """Once for each situation: most reconciles are about pods, and nothing here depends on those."""
        before = self._known.get(key)
        if before is not None and before[0] == at._replace(now=before[0].now) and at.mode != WINDOW:
            return before[1]
        decision = decide(at)
        stall = _stall(decision)
        wanted = Wanted(at.spec, None if stall else decision.attempt.resolved, stall, decision)
        self._known[key] = at, wanted
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return wanted

    def _situation(self, cluster: ClusterView, spec: MultigresClusterSpec) -> Situation:
        namespace, name = cluster.metadata.namespace, cluster.metadata.name
        revisions = tuple(read_revision(each) for each in self._revisions.by_owner(cluster.metadata.uid))
        used_once = (known.template for known in revisions)
        beside = self._beside(namespace, {*mentioned(spec), *used_once})
        reported = cluster.status.applied_template_generations
        return Situation(
            identity=Identity(namespace, name),
            spec=spec,
            live={key: _content(seen) for key, seen in beside.items() if not _is_leaving(seen)},
            leaving=frozenset(key for key, seen in beside.items() if _is_leaving(seen)),
            revisions=revisions,
            reported=None if reported is UNSET else reported,
            annotations=cluster.metadata.annotations,
            now=datetime.datetime.fromtimestamp(self._clock.now(), datetime.UTC),
        )

    def _beside(self, namespace: str, known: set[TemplateKey]) -> dict[TemplateKey, TemplateView]:
        """The templates that can matter: those that the spec names or once named, and those called `default`."""
        keys = {*known, *(TemplateKey(kind, DEFAULT_TEMPLATE) for kind in SPECS)}
        found = {key: self._templates[key.kind].get(Key(namespace, key.name)) for key in sorted(keys)}
        return {key: seen for key, seen in found.items() if seen is not None}


def concerns(cluster: ClusterView, kind: str, template: TemplateView) -> bool:
    """Whether a change of the template may matter to the cluster. A spec that cannot be read is looked at anyway."""
    name = template.metadata.name
    if name == DEFAULT_TEMPLATE:
        return True
    try:
        spec = msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return True
    return TemplateKey(kind, name) in mentioned(spec)


def _content(seen: TemplateView) -> Content:
    return Content(seen.metadata.uid, seen.metadata.generation, seen.spec)


def _is_leaving(seen: TemplateView) -> bool:
    return seen.metadata.deletion_timestamp is not None


def _stall(decision: Decision) -> Stall | None:
    problems = decision.attempt.problems
    if problems:
        told = "; ".join(f"{problem.field}: {problem.message}" for problem in problems)
        return Stall(reasons.INVALID_SPEC, told)
    if decision.lost:
        lost = ", ".join(key.told for key in decision.lost)
        told = f"the content of {lost} that was in force is gone, and the template has changed since"
        cure = "annotate the cluster with multigres.com/apply-template-update=true to take it as it is now"
        return Stall(reasons.CONTENT_LOST, f"{told}; {cure}")
    return None
