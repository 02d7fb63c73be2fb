"""What one controller has to say goes out with the status that another one writes."""

from typing import Any

import msgspec

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.api.cluster import MultigresClusterStatus
from steward.multigres.api.shard import ShardStatus
from steward.multigres.cache_rules import CLUSTER, SHARD
from steward.multigres.controllers.common.status_contributions import (
    CERTIFICATES,
    TOPOLOGY,
    RemarkCarrier,
    Remarks,
)
from steward.runtime.plan.steps import Requeue, Status
from steward.runtime.reconcile import RequeueAfter

REF = Ref(SHARD, Key("shop", "x"))
VALID = Condition("BackupCertificatesReady", "True", "Valid", "all is well", 1)
READY: dict[str, Any] = {"type": "Ready", "status": "True", "reason": "R", "message": ""}
OWN = {"phase": "Healthy", "conditions": [{**READY, "lastTransitionTime": "t0"}]}
NOW = "2026-01-01T00:00:00Z"


def before(**status: Any) -> ShardStatus:
    return msgspec.convert(status, ShardStatus)


async def remark(remarks: Remarks, who: str, **status: Any) -> None:
    await RemarkCarrier(remarks, who).execute((Status(REF, status),), REF)


async def test_a_remark_goes_into_the_status() -> None:
    remarks = Remarks()
    await remark(remarks, CERTIFICATES, conditions=[VALID.manifest()], backupCertificate="d")
    status = remarks.added(REF, before(), OWN, NOW)
    assert status["backupCertificate"] == "d"
    assert status["phase"] == "Healthy"
    assert [(c["type"], c["lastTransitionTime"]) for c in status["conditions"]] == [
        ("Ready", "t0"),
        ("BackupCertificatesReady", NOW),
    ]


async def test_a_condition_that_was_so_before_keeps_its_time() -> None:
    remarks = Remarks()
    await remark(remarks, CERTIFICATES, conditions=[VALID.manifest()])
    old = {**VALID.manifest(), "lastTransitionTime": "2025-01-01T00:00:00Z"}
    status = remarks.added(REF, before(conditions=[old]), {**OWN, "conditions": [old]}, NOW)
    assert status["conditions"] == [old]


def test_until_a_remark_is_made_the_status_says_what_it_said() -> None:
    status = Remarks().added(REF, before(primaryCell="z1", backupCertificate="d"), OWN, NOW)
    assert (status["primaryCell"], status["backupCertificate"]) == ("z1", "d")


async def test_a_remark_without_a_field_takes_it_out_and_leaves_the_other_ones() -> None:
    remarks = Remarks()
    await remark(remarks, TOPOLOGY)
    status = remarks.added(REF, before(primaryCell="z1", backupCertificate="d"), OWN, NOW)
    assert "primaryCell" not in status
    assert status["backupCertificate"] == "d"


async def test_a_new_remark_wakes_the_controller_and_the_same_one_does_not() -> None:
    remarks, woken = Remarks(), list[Key]()
    remarks.channel(SHARD).connect(lambda key, lane: woken.append(key))
    await remark(remarks, TOPOLOGY, primaryCell="z1")
    await remark(remarks, TOPOLOGY, primaryCell="z1")
    assert woken == [REF.key]
    await remark(remarks, TOPOLOGY, primaryCell="z2")
    assert woken == [REF.key, REF.key]


async def test_the_time_in_a_condition_makes_no_new_remark() -> None:
    remarks, woken = Remarks(), list[Key]()
    remarks.channel(SHARD).connect(lambda key, lane: woken.append(key))
    for moment in ("t1", "t2"):
        condition = {**VALID.manifest(), "lastTransitionTime": moment}
        await remark(remarks, CERTIFICATES, conditions=[condition])
    assert woken == [REF.key]


async def test_an_object_that_is_gone_leaves_no_remark_to_its_namesake() -> None:
    remarks = Remarks()
    await remark(remarks, TOPOLOGY, primaryCell="z1")
    remarks.forget(REF)
    assert "primaryCell" not in remarks.added(REF, before(), OWN, NOW)


async def test_when_to_come_again_is_answered_as_by_any_carrier() -> None:
    outcome = await RemarkCarrier(Remarks(), TOPOLOGY).execute((Requeue(3.0),), REF)
    assert outcome.result == RequeueAfter(3.0)


def test_a_kind_without_such_fields_gets_none() -> None:
    assert Remarks().added(Ref(CLUSTER, REF.key), MultigresClusterStatus(), OWN, NOW) == OWN
