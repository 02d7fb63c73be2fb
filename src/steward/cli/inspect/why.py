"""Explains an unhealthy object in one sentence: the cause, since when, and what to do. Pure.

The cause is the deepest unhealthy object below it.
"""

from __future__ import annotations

import re
from collections import Counter

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import WITHOUT_SERVERS, Health
from steward.cli.inspect.object_tree import TreeNode, TreeObject
from steward.cli.output import describe_count

_CURES = (
    (
        r"CrashLoopBackOff|OOMKilled|restarted \d+ times",
        "read its log: kubectl logs -n {namespace} {pod} --previous",
    ),
    (
        r"ImagePullBackOff|ErrImagePull|InvalidImageName",
        "correct the image{container} in {place}, or add the pull secret it needs",
    ),
    (
        r"unbound immediate PersistentVolumeClaims",
        "see the events of the claim: kubectl describe pvc -n {namespace}",
    ),
    (r"cannot be scheduled", "add nodes that fit, or change the zone, the requests or the affinity"),
    (
        r"containers with unready status",
        "see why its probe fails: kubectl describe pod -n {namespace} {pod}",
    ),
    (
        r"volume claim .* is not bound|^is Pending$",
        "see the events of the claim: kubectl describe pvc -n {namespace}",
    ),
    (r"^is Pending and not ready", "see its events: kubectl describe pod -n {namespace} {pod}"),
    (
        r"approve-deletion",
        "{instead}, or approve the deletion: steward hold approve {kind}/{name} -n {namespace}{flags}",
    ),
    (
        r"no operator has reconciled",
        "check that the operator runs and watches this namespace: steward doctor{flags}",
    ),
    (
        r"rows? (is|are) rejected",
        "correct the table; `steward rows {name} -n {namespace}{flags}` lists all of them",
    ),
    (r"does not exist in namespace '[^']*'$", "create it, or name another"),
    (
        r"readyWhen (cannot be rendered|renders neither|is false)",
        "correct readyWhen in {place}, if the object should count as ready",
    ),
    (r"^\d+ of \d+ replicas are", "look at its pods: kubectl describe pods -n {namespace}"),
    (r"topology", "look for its topology server in: steward tree {explained}{flags}"),
)
_APPROVAL = re.compile(r"\. [^.]*, or approve the deletion of exactly these with the annotation .*$")
"""What the operator suggests to users of kubectl; the cure has a command of this program."""
_POD = re.compile(r"pod ([a-z0-9.-]+)")
_CONTAINER = re.compile(r"container ([a-z0-9.-]+)")


def why_message(node: TreeNode, now: float, flags: str = "") -> str:
    """`flags`: the cluster options of the running command, for the commands that the sentence suggests."""
    obj = node.object
    name = f"{obj.ref.kind.kind} {obj.ref.key}"
    if node.is_healthy:
        since = format_age(obj.since, now)
        state = obj.suspension if obj.suspension in WITHOUT_SERVERS else "ready"
        return f"{name} is {state}" + (f", for {since}." if since else ".")
    if obj.is_terminating and obj.health is Health.WAITING:
        return f"{name} {_deletion_text(node, now)}"
    cause = find_cause(node)
    since = format_age(cause.object.since, now)
    age = f" for {since}" if since else ""
    verb = "has failed" if obj.health is Health.FAILED else "is not ready yet"
    reason = "" if cause is node else f" because of {cause.object.ref.kind.kind} {_short_name(cause, node)}"
    cure = _find_cure(cause.object, obj, flags)
    # The pod is named already.
    message = shorten_message(cause.object.message).removeprefix(f"pod {cause.object.ref.key.name}: ")
    return f"{name} {verb}{reason}{age}: {_APPROVAL.sub('', message) if cure else message}." + (
        f" To do: {cure}." if cure else ""
    )


def _short_name(cause: TreeNode, node: TreeNode) -> str:
    """With the namespace only where it is another one."""
    key = cause.object.ref.key
    return key.name if key.namespace == node.object.ref.key.namespace else str(key)


def _deletion_text(node: TreeNode, now: float) -> str:
    """That the object is being deleted, since when, and what is left of it."""
    since = format_age(node.object.since, now)
    left = Counter(obj.ref.kind.kind for child in node.children for obj in child.walk())
    parts = ", ".join(describe_count(count, kind) for kind, count in left.items())
    message = shorten_message(node.object.message)
    text = message + (f", for {since}" if since else "")
    return f"{text}; left: {parts}." if parts else f"{text}."


def find_cause(node: TreeNode) -> TreeNode:
    """The deepest failed descendant; if none has failed, the deepest one that is waiting. A deletion that is held waits
    for a user, whatever else is wrong below it."""
    if node.object.has_held_deletion:
        return node
    failed = [child for child in node.children if child.worst_health is Health.FAILED]
    if failed:
        return find_cause(failed[0])
    waiting = [child for child in node.children if not child.is_healthy]
    return find_cause(waiting[0]) if waiting and node.object.health is not Health.FAILED else node


def _find_cure(obj: TreeObject, explained: TreeObject, flags: str) -> str:
    message = shorten_message(obj.message)
    pod, container = _POD.search(message), _CONTAINER.search(message)
    for pattern, cure in _CURES:
        if re.search(pattern, message):
            return cure.format(
                namespace=obj.ref.key.namespace,
                kind=obj.ref.kind.kind.lower(),
                name=obj.ref.key.name,
                pod=pod[1] if pod else obj.ref.key.name,
                container=f" of container {container[1]}" if container else "",
                flags=flags,
                place=_place_of_spec(obj, explained),
                explained=_argument(explained),
                instead="leave it held" if obj.ref.kind.kind == "TenantTemplate" else "restore the rows",
            )
    return ""


def _argument(obj: TreeObject) -> str:
    """The object as verbs take it."""
    return f"{obj.ref.kind.kind.lower()}/{obj.ref.key.name} -n {obj.ref.key.namespace}"


def _place_of_spec(obj: TreeObject, explained: TreeObject) -> str:
    """The object that a user edits to change this one: what is below a Tenant comes from its template."""
    if obj.template:
        return f"TenantTemplate {obj.template}"
    if explained.ref.kind.kind == "MultigresCluster":
        return f"spec.images of MultigresCluster {explained.ref.key}"
    return "the object that creates it"


def shorten_message(message: str) -> str:
    """Drops source excerpts, variable lists and repeated clauses, to leave one sentence."""
    lines = [line for line in message.splitlines() if not line.startswith((" ", "variables: "))]
    clauses = dict.fromkeys(clause for line in lines for clause in line.split("; "))
    return "; ".join(clauses).rstrip(". ") or "it reports no reason"
