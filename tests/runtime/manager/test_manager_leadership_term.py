"""Each time the process becomes the leader, a new leadership term begins."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from steward.runtime.manager.manager import Manager


class LosingElection:
    """Leads twice and loses the lease each time; the third wait is cancelled."""

    def __init__(self) -> None:
        self.times_led = 0

    async def wait_until_leading(self) -> None:
        if self.times_led == 2:
            raise asyncio.CancelledError
        self.times_led += 1

    async def wait_until_lost(self) -> str:
        return "the lease was lost"


async def _end_controllers(grace: float) -> None:
    pass


async def test_a_standby_that_leads_again_begins_a_new_term() -> None:
    manager: Any = SimpleNamespace(
        leadership_term=0,
        _election=LosingElection(),
        _loops=[],
        _end_controllers=_end_controllers,
        settings=SimpleNamespace(on_lease_lost="standby"),
    )
    with pytest.raises(asyncio.CancelledError):
        await Manager._lead(manager)
    assert manager.leadership_term == 2
