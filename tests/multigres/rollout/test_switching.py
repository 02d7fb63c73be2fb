"""What a change that needs a switch of the primary waits for."""

import pytest

from steward.multigres import reasons
from steward.multigres.api.cell import CellSpec
from steward.multigres.api.compute import Buffering, MultiGateway
from steward.multigres.rollout.switching import (
    SPACING_SECONDS,
    SwitchAttempt,
    missing_primary_wait,
    switch_spacing,
    switch_wait,
)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (None, reasons.SWITCHING_PRIMARY),
        (SwitchAttempt("a-0"), reasons.SWITCHING_PRIMARY),
        (SwitchAttempt("a-0", "no standby"), reasons.SWITCH_REFUSED),
        (SwitchAttempt("a-1", "no standby"), reasons.SWITCHING_PRIMARY),
    ],
    ids=["none", "in progress", "refused", "of another pod"],
)
def test_only_a_refusal_for_the_same_pod_is_reported(last: SwitchAttempt | None, reason: str) -> None:
    assert switch_wait("a-0", last, "the cure").reason == reason


def test_a_refusal_is_reported_with_its_cause_and_the_cure() -> None:
    wait = switch_wait("a-0", SwitchAttempt("a-0", "no standby"), "the cure")
    assert wait.message == (
        "until another server has taken over from a-0; the switch was refused: no standby; the cure"
    )


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (None, reasons.PRIMARY_UNKNOWN),
        (SwitchAttempt("a-0"), reasons.SWITCHING_PRIMARY),
        (SwitchAttempt("a-0", "no standby"), reasons.PRIMARY_UNKNOWN),
    ],
)
def test_a_recent_switch_explains_a_missing_primary(last: SwitchAttempt | None, reason: str) -> None:
    assert missing_primary_wait(last, "the cure").reason == reason


@pytest.mark.parametrize(
    ("pauses", "spacing"),
    [([], SPACING_SECONDS), (["5s"], SPACING_SECONDS), (["1m", "5s"], 60.0)],
)
def test_switches_are_as_far_apart_as_the_gateways_of_every_cell_need(
    pauses: list[str], spacing: float
) -> None:
    gateways = [MultiGateway(buffering=Buffering(min_time_between_failovers=pause)) for pause in pauses]
    cells = [CellSpec(name="z1"), *(CellSpec(name="z", multi_gateway=each) for each in gateways)]
    assert switch_spacing(cells) == spacing
