"""Explains an unhealthy object in one sentence: the cause, since when, and what to do. Pure.

The cause is the deepest unhealthy object below it.
"""

from __future__ import annotations

import re

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_tree import Health, TreeNode, TreeObject

_CURES = (
    (
        r"CrashLoopBackOff|OOMKilled|restarted \d+ times",
        "read its log: kubectl logs -n {namespace} {pod} --previous",
    ),
    (
        r"ImagePullBackOff|ErrImagePull|InvalidImageName",
        "correct spec.images, or add the pull secret it needs",
    ),
    (
        r"unbound immediate PersistentVolumeClaims",
        "see the events of the claim: kubectl describe pvc -n {namespace}",
    ),
    (r"cannot be scheduled", "add nodes that fit, or change the zone, the requests or the affinity"),
    (
        r"volume claim .* is not bound|is Pending",
        "see the events of the claim: kubectl describe pvc -n {namespace}",
    ),
    (r"approve-deletion", "restore the rows, or approve the deletion as the message says"),
    (
        r"no operator has reconciled",
        "check that the operator runs and watches this namespace: steward doctor",
    ),
    (r"rows? (is|are) rejected", "correct the table; `steward rows` lists all of them"),
    (r"does not exist in namespace '[^']*'$", "create it, or name another"),
    (r"^\d+ of \d+ replicas are", "look at its pods: kubectl describe pods -n {namespace}"),
    (r"topology", "look at the topology server: steward why toposerver/… -n {namespace}"),
)
_POD = re.compile(r"pod ([a-z0-9.-]+)")


def why_message(node: TreeNode, now: float) -> str:
    obj = node.object
    name = f"{obj.ref.kind.kind} {obj.ref.key}"
    if node.is_healthy:
        since = format_age(obj.since, now)
        return f"{name} is ready" + (f", for {since}." if since else ".")
    cause = find_cause(node)
    since = format_age(cause.object.since, now)
    age = f" for {since}" if since else ""
    verb = "has failed" if obj.health is Health.FAILED else "is not ready yet"
    reason = "" if cause is node else f" because of {cause.object.ref.kind.kind} {cause.object.ref.key.name}"
    cure = _find_cure(cause.object)
    return f"{name} {verb}{reason}{age}: {_shorten_message(cause.object.message)}." + (
        f" To do: {cure}." if cure else ""
    )


def find_cause(node: TreeNode) -> TreeNode:
    """The deepest failed descendant; if none has failed, the deepest one that is waiting."""
    failed = [child for child in node.children if _worst_health(child) is Health.FAILED]
    if failed:
        return find_cause(failed[0])
    waiting = [child for child in node.children if not child.is_healthy]
    return find_cause(waiting[0]) if waiting and node.object.health is not Health.FAILED else node


def _worst_health(node: TreeNode) -> Health:
    return min(obj.health for obj in node.walk())


def _find_cure(obj: TreeObject) -> str:
    message = _shorten_message(obj.message)
    found = _POD.search(message)
    pod = found[1] if found else obj.ref.key.name
    for pattern, cure in _CURES:
        if re.search(pattern, message):
            return cure.format(namespace=obj.ref.key.namespace, pod=pod)
    return ""


def _shorten_message(message: str) -> str:
    """Drops source excerpts, variable lists and repeated clauses, to leave one sentence."""
    lines = [line for line in message.splitlines() if not line.startswith((" ", "variables: "))]
    clauses = dict.fromkeys(clause for line in lines for clause in line.split("; "))
    return "; ".join(clauses).rstrip(". ") or "it reports no reason"
