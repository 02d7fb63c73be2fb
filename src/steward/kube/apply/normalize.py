"""Rewrites a manifest before it is compared and applied, where server-side apply treats its notation badly. Pure.

Empty metadata maps and lists are left out. To the API server `annotations: {}` is a field like any other: applying it
makes us the owner of an empty map. The first annotation of another field manager (the Deployment controller writes the
revision) takes the map from us, removing its last one does so again, and each time the next apply would be a write that
changes nothing but the owner of the map. A manifest without the map means the same: annotations that we applied before
are removed, and those of other managers stay.

Only metadata, and the data of ConfigMaps and Secrets, are treated so. Elsewhere an empty map can be a choice
(`emptyDir: {}` is a kind of volume, `podSelector: {}` selects every pod), so it is sent, and compared as described in
`comparison`.

A Secret's `stringData` is encoded into its `data`, as the API server does on a create. Under server-side apply it does
not: we would own `stringData`, a key that we drop would stay in `data`, and edits of `data` by others would go
unnoticed.
"""

import base64
from typing import Any, Final

from steward.kube.objects.canonical import is_built_in
from steward.kube.objects.kinds import CONFIG_MAP, SECRET, Manifest, kind_of

_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_DATA: Final = ("data", "binaryData")
_TEMPLATES: Final = ("template", "jobTemplate")


def normalize(manifest: Manifest) -> Manifest:
    return without_empty_maps(fold_string_data(manifest))


def fold_string_data(manifest: Manifest) -> Manifest:
    """A Secret with its `stringData` encoded into `data`; any other manifest as it is."""
    if "stringData" not in manifest or kind_of(manifest) != SECRET:
        return manifest
    strings = manifest["stringData"] or {}
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in strings.items()}
    other_fields = {name: value for name, value in manifest.items() if name != "stringData"}
    return {**other_fields, "data": {**(manifest.get("data") or {}), **encoded}}


def without_empty_maps(manifest: Manifest) -> Manifest:
    """The manifest itself when it has no empty maps of these kinds."""
    kind = kind_of(manifest)
    cleaned = _without_empty_metadata(manifest)
    if kind in (CONFIG_MAP, SECRET):
        return _without_empty(cleaned, _DATA)
    return _without_in_templates(cleaned) if is_built_in(kind) else cleaned


def _without_in_templates(workload: Manifest) -> Manifest:
    """The same for the templates of a workload: pods, and jobs with their own pod template."""
    spec = workload.get("spec")
    if type(spec) is not dict:
        return workload
    templates = {name: spec[name] for name in _TEMPLATES if type(spec.get(name)) is dict}
    cleaned = {
        name: _without_in_templates(_without_empty_metadata(template)) for name, template in templates.items()
    }
    if all(cleaned[name] is templates[name] for name in templates):
        return workload
    return {**workload, "spec": {**spec, **cleaned}}


def _without_empty_metadata(manifest: Manifest) -> Manifest:
    metadata = manifest.get("metadata")
    if type(metadata) is not dict:
        return manifest
    cleaned = _without_empty(metadata, _METADATA)
    return manifest if cleaned is metadata else {**manifest, "metadata": cleaned}


def _without_empty(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    empty = [name for name in names if name in fields and not fields[name]]
    return {name: value for name, value in fields.items() if name not in empty} if empty else fields
