"""Which volume claims without an owner are deleted with their StatefulSet."""

from typing import Any

import pytest

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.ownerless_claims import SetVolumes, claim_deletions
from steward.multigres.views import ClaimView, PodView
from steward.runtime.plan.steps import Delete

SETS = [SetVolumes("pool", "pgdata", 2)]


def claim(name: str, **metadata: Any) -> ClaimView:
    return ClaimView(ObjectMeta(name=name, uid=f"uid of {name}", resource_version="7", **metadata))


def test_claims_of_the_desired_replicas_are_deleted_in_the_version_that_was_read() -> None:
    [step] = claim_deletions(SETS, [claim("pgdata-pool-1")], [])
    assert isinstance(step, Delete)
    assert (step.uid, step.resource_version) == ("uid of pgdata-pool-1", "7")


@pytest.mark.parametrize(
    "retained",
    [
        claim("pgdata-pool-2"),
        claim("pgdata-other-0"),
        claim("backup-pool-0"),
        claim("pgdata-pool-0", owner_references=(OwnerReference(uid="set"),)),
        claim("pgdata-pool-0", deletion_timestamp="2027-01-15T08:00:00Z"),
    ],
    ids=["retained from more replicas", "another set", "another volume", "with an owner", "ending"],
)
def test_all_other_claims_are_retained(retained: ClaimView) -> None:
    assert claim_deletions(SETS, [retained], []) == ()


def test_a_claim_of_a_pod_that_stays_is_retained() -> None:
    owned = PodView(ObjectMeta(name="pool-0", owner_references=(OwnerReference(uid="s", controller=True),)))
    ending = PodView(ObjectMeta(name="pool-1"))
    steps = claim_deletions(SETS, [claim("pgdata-pool-0"), claim("pgdata-pool-1")], [owned, ending])
    assert [step.ref.key.name for step in steps if isinstance(step, Delete)] == ["pgdata-pool-1"]
