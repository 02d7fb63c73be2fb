"""Whether a MultigresCluster may be deleted. Pure.

With `spec.deletionProtection` the request is denied. The annotation `multigres.com/deletion-protection` has another
meaning: it makes a TopoServer wait for its dependents.
"""

from collections.abc import Mapping
from typing import Any

from steward.kube.objects.kinds import Key


def protection_message(manifest: Mapping[str, Any], default: bool) -> str:
    """Why the deletion of this cluster is denied, and how to go on; empty if it may be deleted."""
    metadata = _section(manifest, "metadata")
    if metadata.get("deletionTimestamp") or not is_protected(manifest, default):
        return ""
    key = Key(metadata.get("namespace", ""), metadata.get("name", ""))
    return (
        f"MultigresCluster {key} is protected from deletion by {_cause(manifest)}; to delete it nevertheless, run "
        f"kubectl patch mgc {key.name} -n {key.namespace} --type merge "
        """-p '{"spec":{"deletionProtection":false}}', """
        "then delete it again"
    )


def is_protected(manifest: Mapping[str, Any], default: bool) -> bool:
    """`default` is for clusters that do not say."""
    protection = _own_protection(manifest)
    return default if protection is None else bool(protection)


def _own_protection(manifest: Mapping[str, Any]) -> Any:
    """What the cluster says, None if nothing."""
    return _section(manifest, "spec").get("deletionProtection")


def _section(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Empty if it is no object: clients other than the API server send what no schema has checked."""
    section = manifest.get(name)
    return section if isinstance(section, Mapping) else {}


def _cause(manifest: Mapping[str, Any]) -> str:
    is_own = _own_protection(manifest) is not None
    return "spec.deletionProtection" if is_own else "the operator's flag --protect-clusters"
