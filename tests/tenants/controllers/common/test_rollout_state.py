"""The registry controller reports rollouts and writes; the template controller is woken and waits for them."""

from steward.kube.objects.kinds import Key
from steward.tenants.api.template import RolloutStatus
from steward.tenants.controllers.common.rollout_state import RolloutState

WEB = Key("shop", "web")
RUNNING = RolloutStatus(phase="InProgress", target_generation=2, message="1 of 3 Tenants")


def test_a_template_is_woken_only_when_its_rollout_changes() -> None:
    woken: list[Key] = []
    state = RolloutState()
    state.changed.connect(lambda key, lane: woken.append(key))
    for status in (None, None, RUNNING, RUNNING):
        state.report(WEB, status)
    assert woken == [WEB, WEB]
    state.forget(WEB)
    state.report(WEB, RUNNING)
    assert woken == [WEB, WEB, WEB]


def test_a_template_is_written_until_its_last_writer_has_ended() -> None:
    state = RolloutState()
    with state.writing([WEB]):
        with state.writing([WEB]):
            assert state.is_writing(WEB)
        assert state.is_writing(WEB)
    assert not state.is_writing(WEB)
    assert not state.writes
