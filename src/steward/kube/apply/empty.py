"""Empty maps and lists of metadata, left out of what is applied: they say nothing, and owning them costs writes.

To the server `annotations: {}` is a field like any other: it makes us the owner of a map that has nothing in it. The
first annotation of somebody else (a Deployment's controller writes the revision) takes the map from us, its last one
takes it again, and each time the next apply would be a write that changes nothing but who owns the map. Left out, it
means the same: what we put there before goes away, and what others put there is theirs.

Only metadata, and the data of ConfigMaps and Secrets, are treated so. Elsewhere an empty map can be a choice
(`emptyDir: {}` is a kind of volume, `podSelector: {}` is every pod), so it is sent, and compared as `compare` says.
"""

from typing import Any, Final

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Manifest, kind_of

_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_DATA: Final = ("data", "binaryData")
_TEMPLATES: Final = ("template", "jobTemplate")


def without_empty_maps(manifest: Manifest) -> Manifest:
    """The manifest itself when it has none of them."""
    kind = kind_of(manifest)
    meant = _without_metadata(manifest)
    if kind in (CONFIG_MAP, SECRET):
        return _without(meant, _DATA)
    return _without_in_templates(meant) if is_built_in(kind) else meant


def _without_in_templates(thing: Manifest) -> Manifest:
    """The same for what a workload makes: pods, and the jobs that make pods."""
    spec = thing.get("spec")
    if type(spec) is not dict:
        return thing
    found = {name: spec[name] for name in _TEMPLATES if type(spec.get(name)) is dict}
    meant = {name: _without_in_templates(_without_metadata(template)) for name, template in found.items()}
    if all(meant[name] is found[name] for name in found):
        return thing
    return {**thing, "spec": {**spec, **meant}}


def _without_metadata(thing: Manifest) -> Manifest:
    metadata = thing.get("metadata")
    if type(metadata) is not dict:
        return thing
    meant = _without(metadata, _METADATA)
    return thing if meant is metadata else {**thing, "metadata": meant}


def _without(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    empty = [name for name in names if name in fields and not fields[name]]
    return {name: value for name, value in fields.items() if name not in empty} if empty else fields
