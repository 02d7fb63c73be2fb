"""Faults of stories as rules of the fault proxy."""

from typing import get_args

import pytest

from steward.testkit import Call
from tests.chaos.api_faults import cuts_watches, rule_for
from tests.chaos.story import ApiFault, ApiFaultKind

WRITE = Call("PATCH", "/apis/apps/v1/namespaces/a/deployments/web", "patch", resource="deployments")
LEASE = Call("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/x", "update", resource="leases")
WATCH = Call("GET", "/api/v1/pods", "watch", resource="pods")


@pytest.mark.parametrize("kind", get_args(ApiFaultKind))
def test_every_fault_has_an_effect(kind: ApiFaultKind) -> None:
    assert rule_for(ApiFault(kind)) is not None or cuts_watches(ApiFault(kind)) is not None


def test_a_fault_of_writes_affects_so_many_writes_of_its_resource() -> None:
    rule = rule_for(ApiFault("conflict", "deployments", 3))
    assert rule is not None
    assert rule.match.matches(WRITE)
    assert rule.count == 3
    assert not rule.match.matches(WATCH)


def test_a_fault_of_writes_spares_leases() -> None:
    rule = rule_for(ApiFault("error"))
    assert rule is not None
    assert rule.match.matches(WRITE)
    assert not rule.match.matches(LEASE)


def test_expired_watches_are_cut_first() -> None:
    match = cuts_watches(ApiFault("expire-watches", "pods"))
    assert match is not None
    assert match.matches(WATCH)
    assert cuts_watches(ApiFault("error")) is None
