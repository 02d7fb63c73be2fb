"""One sentence for one object: what it waits for, since when, and what would unblock it. Pure.

The chain is followed down to the first thing that is wrong by itself: the deepest member that is not well.
"""

from __future__ import annotations

import re

from steward.cli.inspect.ages import ago
from steward.cli.inspect.object_tree import Branch, Health, Member

_CURES = (
    (
        r"CrashLoopBackOff|OOMKilled|restarted \d+ times",
        "read its log: kubectl logs -n {namespace} {pod} --previous",
    ),
    (r"ImagePullBackOff|ErrImagePull|InvalidImageName", "mend spec.images, or give the pull secret it needs"),
    (
        r"unbound immediate PersistentVolumeClaims",
        "see what the binder says: kubectl describe pvc -n {namespace}",
    ),
    (r"cannot be scheduled", "add such nodes, or change the zone, the requests or the affinity"),
    (
        r"volume claim .* is not bound|is Pending",
        "see what the binder says: kubectl describe pvc -n {namespace}",
    ),
    (r"approve-deletion", "bring the rows back, or approve that deletion as the message says"),
    (r"no operator has looked", "see whether the operator runs and looks here: steward doctor"),
    (r"rows? (is|are) rejected", "correct the table; `steward rows` lists all of them"),
    (r"does not exist in namespace '[^']*'$", "create it, or name another"),
    (r"^\d+ of \d+ replicas are", "look at its pods: kubectl describe pods -n {namespace}"),
    (r"topology", "look at the topology server: steward why toposerver/… -n {namespace}"),
)
_POD = re.compile(r"pod ([a-z0-9.-]+)")


def why(branch: Branch, now: float) -> str:
    member = branch.member
    name = f"{member.ref.kind.kind} {member.ref.key}"
    if branch.is_well:
        since = ago(member.since, now)
        return f"{name} is ready" + (f", for {since}." if since else ".")
    cause = cause_of(branch)
    since = ago(cause.member.since, now)
    age = f" for {since}" if since else ""
    verb = "has failed" if member.health is Health.FAILED else "is not ready yet"
    through = (
        "" if cause is branch else f" because of {cause.member.ref.kind.kind} {cause.member.ref.key.name}"
    )
    cure = _cure(cause.member)
    return f"{name} {verb}{through}{age}: {_stripped(cause.member.message)}." + (
        f" To do: {cure}." if cure else ""
    )


def cause_of(branch: Branch) -> Branch:
    """Down through what has failed, as deep as it goes; where nothing has, down through what is waited for."""
    failed = [child for child in branch.children if _worst(child) is Health.FAILED]
    if failed:
        return cause_of(failed[0])
    waiting = [child for child in branch.children if not child.is_well]
    return cause_of(waiting[0]) if waiting and branch.member.health is not Health.FAILED else branch


def _worst(branch: Branch) -> Health:
    return min(member.health for member in branch.walk())


def _cure(member: Member) -> str:
    message = _stripped(member.message)
    found = _POD.search(message)
    pod = found[1] if found else member.ref.key.name
    for pattern, cure in _CURES:
        if re.search(pattern, message):
            return cure.format(namespace=member.ref.key.namespace, pod=pod)
    return ""


def _stripped(message: str) -> str:
    """One sentence: without pictures of the place at fault, lists of variables, and what was said already."""
    lines = [line for line in message.splitlines() if not line.startswith((" ", "variables: "))]
    clauses = dict.fromkeys(clause for line in lines for clause in line.split("; "))
    return "; ".join(clauses).rstrip(". ") or "it does not say why"
