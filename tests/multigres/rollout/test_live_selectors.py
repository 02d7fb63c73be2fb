"""Deployments keep the selector that they were created with."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.rollout.live_selectors import with_live_selector
from steward.multigres.views import SelectorView, WorkloadSpec, WorkloadView

LABELS = {"component": "gateway", "instance": "mini", "cluster": "mini"}


def desired(kind: str = "Deployment") -> Manifest:
    template = {"metadata": {"labels": LABELS}}
    spec = {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "gateway"}, "spec": spec}


def live(**selected: str) -> WorkloadView:
    return WorkloadView(ObjectMeta(name="gateway"), WorkloadSpec(selector=SelectorView(selected)))


def test_a_selector_that_the_desired_pods_match_is_kept() -> None:
    kept = with_live_selector(desired(), live(component="gateway", instance="mini"))
    assert kept["spec"]["selector"] == {"matchLabels": {"component": "gateway", "instance": "mini"}}
    assert {**kept["spec"], "selector": None} == {**desired()["spec"], "selector": None}


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (None, "Deployment"),
        (live(), "Deployment"),
        (live(**LABELS), "Deployment"),
        (live(component="gateway", instance="other"), "Deployment"),
        (live(component="gateway", role="front"), "Deployment"),
        (live(component="gateway"), "StatefulSet"),
    ],
    ids=["absent", "no selector", "the same", "another value", "a label the pods lack", "another kind"],
)
def test_any_other_manifest_stays_as_it_is(found: Any, kind: str) -> None:
    assert with_live_selector(desired(kind), found) == desired(kind)
