"""What all three controllers stand on: the rules, the stores, the carrier, the client, the settings and the clock."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TypeVar

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata
from steward.kube.objects.timestamps import to_timestamp
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import RolloutStatus
from steward.tenants.cache_rules import Rules
from steward.tenants.controllers.common.document_cache import Shelf
from steward.tenants.fleet.index import Fleets
from steward.tenants.labels import FIELD_MANAGER

T = TypeVar("T", bound=HasMetadata)


class ControllerContext:
    def __init__(self, manager: Manager, settings: Settings) -> None:
        self.manager = manager
        self.settings = settings
        self.rules = Rules(settings.namespaces, settings.shard)
        self.client = manager.client
        self.executor = manager.executor(FIELD_MANAGER)
        self.clock = manager.connection.clock
        self.shelf = Shelf(self.client, self.store(self.rules.tenant))
        self.rollouts: dict[Key, RolloutStatus | None] = {}
        """By template, how far its latest change is: found by the registry, told by the template."""
        self.wake_template: Callable[[Key], None] = lambda _: None
        self._written: Counter[Key] = Counter()

    def store(self, rule: CacheRule[T]) -> Store[T]:
        return self.manager.store(rule)

    @cached_property
    def fleets(self) -> Fleets:
        """Every Tenant, to be found by its registry. Only part 0 of a fleet that is split asks for them."""
        return Fleets(self.store(self.rules.every_tenant), self.store(self.rules.secret))

    @contextmanager
    def writing(self, templates: Iterable[Key]) -> Iterator[None]:
        """While Tenants of these templates are written: see `is_written`."""
        begun = tuple(templates)
        self._written.update(begun)
        try:
            yield
        finally:
            self._written.subtract(begun)

    def is_written(self, template: Key) -> bool:
        """Whether Tenants of the template may come up that no cache has seen yet. It leaves only after them: a Tenant
        that outlives its template is nobody's to delete."""
        return self._written[template] > 0

    def tell_rollout(self, template: Key, status: RolloutStatus | None) -> None:
        if self.rollouts.get(template, UNSET) != status:
            self.rollouts[template] = status
            self.wake_template(template)

    def now(self) -> str:
        return to_timestamp(self.clock.now())
