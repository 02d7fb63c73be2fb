"""The active revision of a template: its last valid content.

It is stored in a ControllerRevision that the template owns, numbered by the template's generation, and written by the
template controller only. Registries render from it and never from the template itself: an invalid edit changes no
Tenant, before and after a restart.
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

_MAX_PREFIX = 200
SUPERSEDED = "a later revision of the template is active"


def active_revision(revisions: Store[Revision], template: ObjectMeta) -> Revision | None:
    owned = revisions.by_owner(template.uid)
    return max(owned, key=lambda revision: revision.revision, default=None)


def activation_steps(revisions: Store[Revision], template: ObjectMeta, spec: dict[str, Any]) -> Plan:
    """Writes the revision of this generation, then deletes the earlier ones."""
    earlier = [
        Delete(Ref(CONTROLLER_REVISION, key_of(revision)), revision.metadata.uid, SUPERSEDED)
        for revision in revisions.by_owner(template.uid)
        if revision.revision < template.generation
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
    # The uid is part of the hash: the generations of a template that is created again start at 1 again.
    digest = sha256(f"{template.name}\0{template.uid}".encode()).hexdigest()[:10]
    return f"{template.name[:_MAX_PREFIX].rstrip('-.')}-{digest}-{template.generation}"
