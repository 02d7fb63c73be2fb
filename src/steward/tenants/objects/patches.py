"""The two strategies that are no apply: `merge` adds to what is there, `replace` makes it exactly this. Pure.

Both become patches that hold the version that they were made for. Whether one would change anything is asked of the
server by a dry run, because only it knows its defaults; the answer is compared with what is there.

For each there is a second patch, for what the server refuses. A strategic merge can only add to a list: a port that has
changed its number would stand beside the old one, and so the whole list is set. And what the server has written into a
field that cannot change, the volume of a claim or the selector of a Job, stays in an object that is replaced.
"""

from typing import Any, Final

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import Manifest, kind_of
from steward.kube.objects.patches import JsonPatch, MergePatch, Patch, StrategicPatch

# What the cluster's own controllers write on objects. Taken away, it would come back at once, and so on for ever.
_OF_THE_CLUSTER: Final = ("kubernetes.io", "k8s.io")
_IDENTITY: Final = ("apiVersion", "kind", "metadata", "status")
_BOOKKEEPING: Final = frozenset({"managedFields", "resourceVersion", "generation"})


def merge_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Strategic where the server knows how to merge the kind, plain JSON for custom kinds."""
    changes = _guarded(manifest, live)
    return StrategicPatch(changes) if is_built_in(kind_of(manifest)) else MergePatch(changes)


def plain_merge_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Sets lists whole."""
    return MergePatch(_guarded(manifest, live))


def _guarded(manifest: Manifest, live: Manifest) -> Manifest:
    version = live["metadata"]["resourceVersion"]
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}}


def replace_patch(manifest: Manifest, live: Manifest) -> Patch:
    """Everything but who the object is, its status, its finalizers, and what the cluster itself keeps on it."""
    body = {name: value for name, value in manifest.items() if name not in _IDENTITY}
    operations = [{"op": "add", "path": f"/{_escaped(name)}", "value": body[name]} for name in body]
    surplus = [name for name in live if name not in body and name not in _IDENTITY]
    operations += [{"op": "remove", "path": f"/{_escaped(name)}"} for name in surplus]
    for field in ("labels", "annotations"):
        marks = {**_of_the_cluster(live, field), **(manifest["metadata"].get(field) or {})}
        operations.append({"op": "add", "path": f"/metadata/{field}", "value": marks})
    owners = manifest["metadata"].get("ownerReferences") or []
    operations.append({"op": "add", "path": "/metadata/ownerReferences", "value": owners})
    return JsonPatch.as_seen(live["metadata"]["resourceVersion"], operations)


def with_what_is_there(manifest: Manifest, live: Manifest) -> Manifest:
    """The manifest over the living object: what it does not mention stays."""
    body = {name: _over(live.get(name), value) for name, value in manifest.items() if name not in _IDENTITY}
    return {**manifest, **body}


def _over(below: Any, above: Any) -> Any:
    if not isinstance(below, dict) or not isinstance(above, dict):
        return above
    return {**below, **{name: _over(below.get(name), value) for name, value in above.items()}}


def _of_the_cluster(live: Manifest, field: str) -> dict[str, str]:
    found: dict[str, str] = live["metadata"].get(field) or {}
    return {name: value for name, value in found.items() if name.partition("/")[0].endswith(_OF_THE_CLUSTER)}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def is_same(live: Manifest, answered: Manifest) -> bool:
    """Whether a dry run would leave the object as it is, but for bookkeeping."""
    return _content(live) == _content(answered)


def _content(manifest: Manifest) -> Manifest:
    metadata = {
        name: value for name, value in manifest["metadata"].items() if name not in _BOOKKEEPING and value
    }
    return {**manifest, "metadata": metadata}
