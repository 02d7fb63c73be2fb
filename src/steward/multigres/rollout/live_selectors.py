"""Keeps the selector of a Deployment, which the API server does not let change. Pure.

The Go operator selects gateways by fewer labels. Pods with more labels still match its selector, so a Deployment of
that operator is updated in place, and its pods are replaced one after the other.
"""

from typing import Any

from steward.kube.objects.kinds import DEPLOYMENT, Manifest, kind_of


def with_live_selector(desired: Manifest, live: Any) -> Manifest:
    """The manifest with the selector of the live Deployment, if the desired pods match that one."""
    if live is None or kind_of(desired) != DEPLOYMENT:
        return desired
    selected, spec = live.spec.selector.match_labels, desired["spec"]
    if not selected or selected == spec["selector"]["matchLabels"]:
        return desired
    if not selected.items() <= spec["template"]["metadata"]["labels"].items():
        return desired
    return {**desired, "spec": {**spec, "selector": {"matchLabels": dict(selected)}}}
