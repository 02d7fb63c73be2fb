"""Follows an object to what made it: a workload, a Tenant with template and row, a cluster. Pure, but for the reads.

An object is followed by the labels of its Tenant, or by its controller. Nothing but metadata of the object itself is
used, so that the value of a Secret never gets anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from steward.cli.object_names import matches_kind
from steward.cli.operations.outcome import RequestError
from steward.kube.client.client import Client
from steward.kube.client.discovery import Resource
from steward.kube.errors import Forbidden, NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref, ref_of
from steward.multigres.cache_rules import CLUSTER, SHARD
from steward.multigres.objects.metadata import CELL_LABEL, CLUSTER_LABEL, POOL_LABEL
from steward.tenants import labels
from steward.tenants.cache_rules import REGISTRY, TEMPLATE, TENANT_KIND

_OPERATORS = frozenset({"multigres-operator", "tenant-operator", "tenant-operator-values"})


class OriginStep(NamedTuple):
    """One object on the way to the origin, and what it has to do with the one before."""

    ref: Ref
    detail: str = ""

    def describe(self) -> str:
        return f"{self.ref}{f': {self.detail}' if self.detail else ''}"


def matching_kinds(word: str, served: Mapping[Kind, Resource]) -> list[Kind]:
    """The served kinds that a word of the command line may mean: singular, plural, short, with or without the group."""
    name, _, group = word.lower().partition(".")
    found = [
        kind
        for kind, resource in served.items()
        if _is_named(name, kind, resource) and group in ("", kind.group)
    ]
    newest = {(kind.group, kind.kind): kind for kind in reversed(found)}
    return sorted(newest.values())


def _is_named(name: str, kind: Kind, resource: Resource) -> bool:
    return name == resource.plural or name in resource.short_names or matches_kind(name, kind.kind)


async def read_object(client: Client, namespace: str, what: str) -> tuple[Ref, Manifest]:
    """The object `KIND/NAME`; of several kinds with that name, the only one that has the object."""
    word, _, name = what.partition("/")
    kinds = matching_kinds(word, await client.discovery.served_kinds())
    if not kinds:
        raise RequestError(f"the server has no kind {word}; `kubectl api-resources` lists them")
    found = [(ref, live) for ref in _refs(kinds, namespace, name) if (live := await _get(client, ref))]
    if not found:
        raise RequestError(f"there is no {what} in namespace {namespace}")
    if len(found) > 1:
        names = ", ".join(f"{ref.kind.kind.lower()}.{ref.kind.group}/{name}" for ref, _ in found)
        raise RequestError(f"{what} is the name of several objects: pass one of {names}")
    return found[0]


def _refs(kinds: Iterable[Kind], namespace: str, name: str) -> list[Ref]:
    return [Ref(kind, Key(namespace, name)) for kind in kinds]


async def _get(client: Client, ref: Ref) -> Manifest | None:
    try:
        return await client.get(ref.kind, ref.key)
    except (NotFound, NoSuchKind):
        return None


async def trace_origin(client: Client, ref: Ref, live: Manifest) -> list[OriginStep]:
    """From the object up to what a person wrote. One step if nothing of Steward made it."""
    steps, seen = [OriginStep(_plain_ref(ref, live), part_of(live))], {ref}
    if ref.kind == TENANT_KIND:
        steps += tenant_steps(live)
    while (parent := parent_of(live)) is not None and parent.ref not in seen:
        seen.add(parent.ref)
        found = await _get_if_allowed(client, parent.ref)
        if found is None:
            return [
                *steps,
                parent._replace(detail=f"{parent.detail}; it does not exist any more".lstrip("; ")),
            ]
        steps.append(parent._replace(detail=detail_of(parent, live, found)))
        live = found
        if parent.ref.kind == TENANT_KIND:
            steps += tenant_steps(found)
    if steps[-1].ref.kind == CLUSTER:
        steps[-1] = steps[-1]._replace(detail=_with_writers(steps[-1].detail, live))
    return steps


def _plain_ref(ref: Ref, live: Manifest) -> Ref:
    """Without a namespace for objects that have none."""
    return Ref(ref.kind, Key(live["metadata"].get("namespace", ""), ref.key.name))


async def _get_if_allowed(client: Client, ref: Ref) -> Manifest | None:
    try:
        return await _get(client, ref)
    except Forbidden:
        return {"apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "metadata": {"name": ref.key.name}}


def parent_of(live: Manifest) -> OriginStep | None:
    """The Tenant of the labels, the controller, or the cluster of the labels."""
    meta = live["metadata"]
    marks, home = meta.get("labels") or {}, str(meta.get("namespace") or "")
    if labels.TENANT in marks:
        return OriginStep(
            Ref(TENANT_KIND, Key(marks.get(labels.TENANT_NAMESPACE, home), marks[labels.TENANT]))
        )
    for owner in meta.get("ownerReferences") or ():
        if owner.get("controller"):
            return OriginStep(Ref(Kind(owner["apiVersion"], owner["kind"]), Key(home, owner["name"])))
    if CLUSTER_LABEL in marks and live.get("kind") != CLUSTER.kind:
        return OriginStep(Ref(CLUSTER, Key(home, marks[CLUSTER_LABEL])), "named by its label")
    return None


def detail_of(parent: OriginStep, child: Manifest, found: Manifest) -> str:
    if parent.ref.kind == TENANT_KIND:
        id_ = _resource_id(found, child)
        return f"resource {id_} of its template" if id_ else parent.detail
    return part_of(found) or parent.detail


def part_of(live: Manifest) -> str:
    """The part of a cluster that the object is."""
    marks, spec = live["metadata"].get("labels") or {}, live.get("spec") or {}
    if live.get("kind") == SHARD.kind and "shardName" in spec:
        path = f"databases[{spec.get('databaseName')}].tablegroups[{spec.get('tableGroupName')}]"
        return f"spec.{path}.shards[{spec['shardName']}]"
    if POOL_LABEL in marks:
        return f"pool {marks[POOL_LABEL]} in cell {marks.get(CELL_LABEL, '')}"
    return f"cell {marks[CELL_LABEL]}" if CELL_LABEL in marks else ""


def _resource_id(tenant: Manifest, child: Manifest) -> str:
    ref = ref_of(child)
    for applied in (tenant.get("status") or {}).get("applied") or ():
        name = (applied.get("kind"), applied.get("namespace") or "", applied.get("name"))
        if name == (ref.kind.kind, child["metadata"].get("namespace") or "", ref.key.name):
            return str(applied.get("id") or "")
    return ""


def tenant_steps(tenant: Manifest) -> list[OriginStep]:
    """The template and the row of a Tenant."""
    meta, spec = tenant["metadata"], tenant.get("spec") or {}
    home, marks = str(meta.get("namespace") or ""), meta.get("labels") or {}
    steps = []
    if template := spec.get("templateRef"):
        generation = spec.get("templateGeneration")
        detail = f"generation {generation}" if generation else ""
        steps.append(OriginStep(Ref(TEMPLATE, Key(home, template)), detail))
    if registry := marks.get(labels.REGISTRY):
        steps.append(OriginStep(Ref(REGISTRY, Key(home, registry)), f"row {spec.get('uid')}"))
    return steps


def _with_writers(detail: str, live: Manifest) -> str:
    names = writers(live)
    written = f"written by {', '.join(names)}" if names else ""
    return "; ".join(text for text in (detail, written) if text)


def writers(live: Manifest) -> list[str]:
    """The field managers of the content that are no operators: kubectl, a GitOps controller, a person's tool."""
    entries = live["metadata"].get("managedFields") or ()
    found = {
        str(entry.get("manager") or "")
        for entry in entries
        if not entry.get("subresource") and (entry.get("fieldsV1") or {}).keys() - {"f:metadata"}
    }
    return sorted(found - _OPERATORS - {""})


def is_made_by_steward(steps: Iterable[OriginStep]) -> bool:
    return any(step.ref.kind in (CLUSTER, TENANT_KIND, REGISTRY, TEMPLATE) for step in steps)


def step_dict(step: OriginStep) -> dict[str, Any]:
    ref = step.ref
    return {
        "apiVersion": ref.kind.api_version,
        "kind": ref.kind.kind,
        "namespace": ref.key.namespace,
        "name": ref.key.name,
        "detail": step.detail,
    }


def kept_by(live: Manifest) -> str:
    """The sentence about an object that a Tenant has left behind; "" for others."""
    meta = live["metadata"]
    if (meta.get("labels") or {}).get(labels.ORPHANED) != "true":
        return ""
    notes = meta.get("annotations") or {}
    home = notes.get(labels.ORPHANED_FROM) or meta.get("namespace", "")
    reason = notes.get(labels.ORPHANED_REASON) or "its Tenant left it behind"
    return (
        f"kept after a Tenant of namespace {home} ({reason}, {notes.get(labels.ORPHANED_AT, 'unknown time')})"
    )
