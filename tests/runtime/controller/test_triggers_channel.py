"""Keys that a reconciler names itself."""

from steward.kube.objects.kinds import Key
from steward.runtime.controller.controller import Controller, ControllerLoop, Surroundings
from steward.runtime.controller.triggers import Channel, For
from steward.runtime.observability.metrics import Metrics
from steward.runtime.reconcile import DONE, Result
from steward.testkit.clock import FakeClock, let_others_run
from tests.runtime.support.views import THINGS, FilledCaches


class Noter:
    def __init__(self) -> None:
        self.seen: list[str] = []

    async def reconcile(self, key: Key) -> Result:
        self.seen.append(key.name)
        return DONE


async def test_a_key_that_is_told_is_looked_at_and_before_the_start_nothing_happens() -> None:
    channel, noter = Channel(), Noter()
    channel.tell(Key("ns", "early"))
    controller = Controller("thing", noter, (For(THINGS),), workers=1, channel=channel)
    around = Surroundings(FilledCaches(), Metrics(), FakeClock(), lambda: 0.0)  # type: ignore[arg-type]
    loop = ControllerLoop(controller, around)
    loop.start()
    await let_others_run()
    channel.tell(Key("ns", "told"))
    await let_others_run()
    loop.stop_taking()
    await loop.finish(grace=0)
    assert noter.seen == ["told"]
