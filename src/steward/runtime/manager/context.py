"""The dependencies that the controllers of an operator share; each operator extends it with its own."""

from typing import TypeVar

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.meta import HasMetadata
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings

T = TypeVar("T", bound=HasMetadata)


class ControllerContext:
    def __init__(self, manager: Manager, settings: Settings) -> None:
        self.manager = manager
        self.settings = settings
        self.client = manager.client
        self.clock = manager.connection.clock

    def store(self, rule: CacheRule[T]) -> Store[T]:
        return self.manager.store(rule)

    def deletion_time(self) -> float:
        """The time that decides whether an object has been kept for long enough: see `ServerTime`."""
        return self.manager.connection.server_time.earlier(self.clock.now())

    def now(self) -> str:
        return to_timestamp(self.clock.now())
