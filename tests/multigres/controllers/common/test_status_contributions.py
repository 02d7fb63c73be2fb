"""Conditions and fields of one controller are merged into the status that another one writes."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.conditions import Condition
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.api.shard import ShardStatus
from steward.multigres.cache_rules import CLUSTER, SHARD
from steward.multigres.controllers.common.status_contributions import (
    BACKUPS,
    CERTIFICATES,
    TOPOLOGY,
    StatusContributions,
    StatusContributor,
)
from steward.runtime.plan.steps import Requeue, Status
from steward.runtime.reconcile import RequeueAfter

REF = Ref(SHARD, Key("shop", "x"))
VALID = Condition("BackupCertificatesReady", "True", "Valid", "all is well", 1)
READY: dict[str, Any] = {"type": "Ready", "status": "True", "reason": "R", "message": ""}
WRITTEN = {
    CERTIFICATES: VALID.manifest() | {"lastTransitionTime": "2025-01-01T00:00:00Z"},
    BACKUPS: Condition("BackupHealthy", "True", "BackedUp", "", 1, "2025-01-01T00:00:00Z").manifest(),
}
"""Conditions of a status that an earlier process wrote."""
OWN = {"phase": "Healthy", "conditions": [{**READY, "lastTransitionTime": "t0"}]}
NOW = "2026-01-01T00:00:00Z"


def previous(**status: Any) -> ShardStatus:
    return msgspec.convert(status, ShardStatus)


async def contribute(contributions: StatusContributions, contributor: str, **status: Any) -> None:
    await StatusContributor(contributions, contributor).execute((Status(REF, status),), REF)


async def test_a_contribution_is_merged_into_the_status() -> None:
    contributions = StatusContributions()
    await contribute(contributions, CERTIFICATES, conditions=[VALID.manifest()], backupCertificate="d")
    status = contributions.merge_into(REF, previous(), OWN, NOW)
    assert status["backupCertificate"] == "d"
    assert status["phase"] == "Healthy"
    assert [(c["type"], c["lastTransitionTime"]) for c in status["conditions"]] == [
        ("Ready", "t0"),
        ("BackupCertificatesReady", NOW),
    ]


async def test_an_unchanged_condition_keeps_its_transition_time() -> None:
    contributions = StatusContributions()
    await contribute(contributions, CERTIFICATES, conditions=[VALID.manifest()])
    old = {**VALID.manifest(), "lastTransitionTime": "2025-01-01T00:00:00Z"}
    status = contributions.merge_into(REF, previous(conditions=[old]), {**OWN, "conditions": [old]}, NOW)
    assert status["conditions"] == [old]


@pytest.mark.parametrize("first", WRITTEN)
async def test_the_first_contribution_after_a_restart_moves_no_condition(first: str) -> None:
    contributions, conditions = StatusContributions(), [*WRITTEN.values()]
    await contribute(contributions, first, conditions=[WRITTEN[first]])
    status = contributions.merge_into(
        REF, previous(conditions=conditions), {**OWN, "conditions": conditions}, NOW
    )
    assert status["conditions"] == conditions


def test_without_a_contribution_the_previous_fields_stay() -> None:
    status = StatusContributions().merge_into(
        REF, previous(primaryCell="z1", backupCertificate="d"), OWN, NOW
    )
    assert (status["primaryCell"], status["backupCertificate"]) == ("z1", "d")


async def test_a_contribution_without_a_field_removes_only_its_own() -> None:
    contributions = StatusContributions()
    await contribute(contributions, TOPOLOGY)
    status = contributions.merge_into(REF, previous(primaryCell="z1", backupCertificate="d"), OWN, NOW)
    assert "primaryCell" not in status
    assert status["backupCertificate"] == "d"


async def test_a_changed_contribution_triggers_the_controller() -> None:
    contributions, triggered = StatusContributions(), list[Key]()
    contributions.channel(SHARD).connect(lambda key, lane: triggered.append(key))
    await contribute(contributions, TOPOLOGY, primaryCell="z1")
    await contribute(contributions, TOPOLOGY, primaryCell="z1")
    assert triggered == [REF.key]
    await contribute(contributions, TOPOLOGY, primaryCell="z2")
    assert triggered == [REF.key, REF.key]


async def test_another_transition_time_is_no_change() -> None:
    contributions, triggered = StatusContributions(), list[Key]()
    contributions.channel(SHARD).connect(lambda key, lane: triggered.append(key))
    for time in ("t1", "t2"):
        condition = {**VALID.manifest(), "lastTransitionTime": time}
        await contribute(contributions, CERTIFICATES, conditions=[condition])
    assert triggered == [REF.key]


async def test_a_deleted_object_leaves_no_contribution() -> None:
    contributions = StatusContributions()
    await contribute(contributions, TOPOLOGY, primaryCell="z1")
    contributions.forget(REF)
    assert "primaryCell" not in contributions.merge_into(REF, previous(), OWN, NOW)


async def test_a_requeue_step_determines_the_result() -> None:
    outcome = await StatusContributor(StatusContributions(), TOPOLOGY).execute((Requeue(3.0),), REF)
    assert outcome.result == RequeueAfter(3.0)


def test_a_kind_without_such_fields_gets_none() -> None:
    assert StatusContributions().merge_into(Ref(CLUSTER, REF.key), MultigresClusterStatus(), OWN, NOW) == OWN


async def test_a_contribution_that_an_edit_does_not_concern_is_confirmed_for_the_new_generation() -> None:
    contributions, woken = StatusContributions(), []
    contributor = StatusContributor(contributions, CERTIFICATES)
    await contribute(contributions, CERTIFICATES, conditions=[VALID.manifest()], backupCertificate="d")
    contributions.channel(SHARD).connect(lambda key, lane: woken.append(key))
    contributor.confirm(REF, 2)
    status = contributions.merge_into(REF, previous(), OWN, NOW)
    assert [c.get("observedGeneration") for c in status["conditions"]] == [None, 2]
    assert status["backupCertificate"] == "d"
    newer = msgspec.structs.replace(VALID, observed_generation=2)
    await contribute(contributions, CERTIFICATES, conditions=[newer.manifest()], backupCertificate="d")
    assert woken == [REF.key]


def test_nothing_is_confirmed_before_the_first_contribution() -> None:
    contributions = StatusContributions()
    StatusContributor(contributions, CERTIFICATES).confirm(REF, 2)
    assert not contributions.has(REF, CERTIFICATES)
