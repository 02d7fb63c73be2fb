import pytest

from steward.runtime.controller.workqueue import WorkQueue
from steward.testkit.clock import FakeClock
from tests.runtime.support.queues import Recorder


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def queue(clock: FakeClock, recorder: Recorder) -> WorkQueue:
    return WorkQueue(clock, lambda: 0.0, recorder)
