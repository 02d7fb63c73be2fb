"""When a cluster moves to the pods that a new version of the operator builds."""

import datetime
from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import Key
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.versions import FIRST, NEWEST, VERSIONS
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.template_updates.candidate import AUTO, MANUAL, WINDOW, UpdateInputs
from steward.multigres.template_updates.notices import APPLY_NOW, pending_revision
from steward.multigres.template_updates.objects_version import (
    VersionDecision,
    VersionInputs,
    VersionNotice,
    active_version,
    decide_version,
    describe_decision,
)
from steward.multigres.template_updates.policy import UpdateDecision, decide_update

OTHER, THIRD = Key("shop", "other"), Key("shop", "third")
READY = VersionInputs(
    active=FIRST,
    mode=AUTO,
    is_accepted=False,
    window_is_open=False,
    is_settled=True,
    is_moving=False,
    others=(),
    slots=1,
)
MOVES = VersionDecision(NEWEST, reasons.OPERATOR_UPDATE_IN_PROGRESS)
DONE = VersionDecision(NEWEST)

CASES: dict[str, tuple[dict[str, Any], VersionDecision]] = {
    "a cluster of the newest version": ({"active": NEWEST}, DONE),
    "a ready cluster and a free slot": ({}, MOVES),
    "one of two slots is free": ({"others": (OTHER,), "slots": 2}, MOVES),
    "all slots are occupied": (
        {"others": (OTHER,)},
        VersionDecision(FIRST, reasons.WAITING_FOR_OTHER_CLUSTERS, (OTHER,)),
    ),
    "a cluster that is not ready": (
        {"is_settled": False},
        VersionDecision(FIRST, reasons.WAITING_FOR_READY),
    ),
    "manual": ({"mode": MANUAL}, VersionDecision(FIRST, reasons.WAITING_FOR_APPROVAL)),
    "manual and accepted": ({"mode": MANUAL, "is_accepted": True}, MOVES),
    "accepted while all slots are occupied": ({"is_accepted": True, "others": (OTHER,)}, MOVES),
    "accepted while the cluster is not ready": ({"is_accepted": True, "is_settled": False}, MOVES),
    "outside a window": ({"mode": WINDOW}, VersionDecision(FIRST, reasons.WAITING_FOR_WINDOW)),
    "in a window": ({"mode": WINDOW, "window_is_open": True}, MOVES),
    "in a window while all slots are occupied": (
        {"mode": WINDOW, "window_is_open": True, "others": (OTHER,)},
        VersionDecision(FIRST, reasons.WAITING_FOR_OTHER_CLUSTERS, (OTHER,)),
    ),
    "the slot is taken and no child is written": ({"is_moving": True, "is_settled": False}, MOVES),
    "the slot is taken and the policy has become manual": ({"is_moving": True, "mode": MANUAL}, MOVES),
    "the children are written": ({"active": NEWEST, "is_moving": True, "is_settled": False}, MOVES),
    "all pods are ready again": ({"active": NEWEST, "is_moving": True}, DONE),
}


@pytest.mark.parametrize("case", CASES)
def test_a_cluster_moves_when_its_policy_and_the_other_clusters_allow_it(case: str) -> None:
    inputs, expected = CASES[case]
    assert decide_version(READY._replace(**inputs)) == expected


@pytest.mark.parametrize(
    ("written", "active"),
    [
        ([], NEWEST),
        ([msgspec.UNSET, msgspec.UNSET], FIRST),
        ([msgspec.UNSET, NEWEST], NEWEST),
        ([NEWEST + 1], NEWEST),
    ],
)
def test_the_first_child_with_a_newer_version_decides_for_the_cluster(
    written: list[Any], active: int
) -> None:
    assert active_version(written) == active


# Acceptance


def update_decision(
    version: int, policy: dict[str, Any], annotations: dict[str, str] | None = None
) -> UpdateDecision:
    return decide_update(update_inputs(version, policy, annotations or {}))


def update_inputs(version: int, policy: dict[str, Any], annotations: dict[str, str]) -> UpdateInputs:
    spec = {"cells": [{"zone": "z1"}, {"zone": "z2"}], "updatePolicy": policy}
    return UpdateInputs(
        identity=ClusterIdentity("shop", "demo"),
        spec=msgspec.convert(spec, MultigresClusterSpec),
        live={},
        terminating=frozenset(),
        revisions=(),
        reported_generations=None,
        annotations=annotations,
        now=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        objects_version=version,
    )


def test_a_pending_version_is_part_of_the_revision_that_the_user_accepts() -> None:
    waiting = update_decision(FIRST, {"templateChanges": "Manual"})
    assert not waiting.accepts_objects
    assert waiting.available_revision
    accepted = {"templateChanges": "Manual", "acceptedRevision": waiting.available_revision}
    assert update_decision(FIRST, accepted).accepts_objects
    assert not update_decision(FIRST, {**accepted, "acceptedRevision": "another"}).accepts_objects


def test_without_a_pending_version_nothing_waits_and_revisions_of_templates_stay_as_they_are() -> None:
    assert update_decision(NEWEST, {}).available_revision == ""
    assert pending_revision({}) == ""


def test_the_annotation_accepts_a_pending_version_and_is_consumed() -> None:
    decision = update_decision(FIRST, {"templateChanges": "Manual"}, {APPLY_NOW: "true"})
    assert decision.accepts_objects
    assert decision.consumed_annotations == (APPLY_NOW,)


# Messages


def message(decision: VersionDecision, policy: dict[str, Any]) -> str:
    inputs = update_inputs(FIRST, policy, {})
    resolved = resolve(inputs.identity, inputs.spec, Templates({}, {}, {}))
    return describe_decision(decision, VersionNotice(inputs, resolved, "4b1d0a93f2c7"))


def test_a_message_names_the_changes_the_restarts_and_the_commands() -> None:
    text = message(VersionDecision(FIRST, reasons.WAITING_FOR_APPROVAL), {"templateChanges": "Manual"})
    assert VERSIONS[0].changes[0] in text
    assert "It restarts 6 Postgres servers, 2 gateways, 2 orchestrators." in text
    assert "kubectl annotate multigrescluster demo -n shop multigres.com/apply-template-update=true" in text
    assert "acceptedRevision to 4b1d0a93f2c7" in text


WINDOW_POLICY = {"templateChanges": "Window", "window": {"cron": "0 2 * * *"}}


@pytest.mark.parametrize(
    ("decision", "policy", "part"),
    [
        (
            VersionDecision(FIRST, reasons.WAITING_FOR_WINDOW),
            WINDOW_POLICY,
            "opens at 2026-01-01T02:00:00Z, or run",
        ),
        (VersionDecision(FIRST, reasons.WAITING_FOR_READY), {}, "when the cluster is ready"),
        (
            VersionDecision(FIRST, reasons.WAITING_FOR_OTHER_CLUSTERS, (OTHER, THIRD)),
            {},
            "It applies after shop/other, shop/third; to apply it now, run",
        ),
        (
            VersionDecision(FIRST, reasons.WAITING_FOR_OTHER_CLUSTERS, (OTHER,) * 5),
            {},
            "and 2 more; to apply it now",
        ),
        (MOVES, {}, f"Pods change to version {NEWEST}"),
    ],
)
def test_a_message_says_what_the_cluster_waits_for(
    decision: VersionDecision, policy: dict[str, Any], part: str
) -> None:
    assert part in message(decision, policy)


def test_a_cluster_with_the_newest_pods_has_no_message() -> None:
    assert message(DONE, {}) == ""
