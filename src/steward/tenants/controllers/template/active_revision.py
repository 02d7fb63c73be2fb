"""The content of a template that is in force: the last that was valid.

It is kept in a ControllerRevision that the template owns, numbered by the template's generation, and written by the
template controller alone. Registries render from it and never from the template itself: an edit that turns out invalid
changes nothing for anybody, before and after a restart.
"""

from hashlib import sha256
from typing import Any

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest, Ref
from steward.kube.objects.meta import ObjectMeta, key_of
from steward.runtime.plan.steps import Apply, Delete, Plan
from steward.tenants import labels
from steward.tenants.cache_rules import TEMPLATE
from steward.tenants.names import label_value
from steward.tenants.views import Revision

_ROOM = 200
REPLACED = "a later version of the template is in force"


def in_force(revisions: Store[Revision], template: ObjectMeta) -> Revision | None:
    owned = revisions.by_owner(template.uid)
    return max(owned, key=lambda found: found.revision, default=None)


def put_in_force(revisions: Store[Revision], template: ObjectMeta, spec: dict[str, Any]) -> Plan:
    """Writes this version down, then takes the ones before it away."""
    earlier = [
        Delete(Ref(CONTROLLER_REVISION, key_of(found)), found.metadata.uid, REPLACED)
        for found in revisions.by_owner(template.uid)
        if found.revision < template.generation
    ]
    return (Apply(_manifest(template, spec)), *earlier)


def _manifest(template: ObjectMeta, spec: dict[str, Any]) -> Manifest:
    owner = {
        "apiVersion": TEMPLATE.api_version,
        "kind": TEMPLATE.kind,
        "name": template.name,
        "uid": template.uid,
        "controller": True,
    }
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.kind,
        "metadata": {
            "name": revision_name(template),
            "namespace": template.namespace,
            "labels": {labels.TEMPLATE: label_value(template.name)},
            "ownerReferences": [owner],
        },
        "revision": template.generation,
        "data": spec,
    }


def revision_name(template: ObjectMeta) -> str:
    # The uid is part of it: a template that is made again counts its generations from 1 again.
    made = sha256(f"{template.name}\0{template.uid}".encode()).hexdigest()[:10]
    return f"{template.name[:_ROOM].rstrip('-.')}-{made}-{template.generation}"
