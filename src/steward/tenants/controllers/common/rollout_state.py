"""State of rollouts that the registry controller writes and the template controller reads."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from steward.kube.objects.kinds import Key
from steward.runtime.controller.triggers import Channel
from steward.tenants.api.scalars import UNSET
from steward.tenants.api.template import RolloutStatus


@dataclass
class RolloutState:
    """Lost on restart without harm: the status of each template has its rollout, and no write is in progress."""

    statuses: dict[Key, RolloutStatus | None] = field(default_factory=dict)
    """By template: its rollout, for the template controller to write to the status; None while it has none."""
    writes: Counter[Key] = field(default_factory=Counter)
    """By template: how many syncs are writing Tenants of it at this moment."""
    changed: Channel = field(default_factory=Channel)
    """Wakes the template controller when a status changes."""

    def report(self, template: Key, status: RolloutStatus | None) -> None:
        if self.statuses.get(template, UNSET) != status:
            self.statuses[template] = status
            self.changed.enqueue(template)

    def forget(self, template: Key) -> None:
        self.statuses.pop(template, None)

    @contextmanager
    def writing(self, templates: Iterable[Key]) -> Iterator[None]:
        """Marks the templates whose Tenants are being written: see `is_writing`."""
        started = tuple(templates)
        self.writes.update(started)
        try:
            yield
        finally:
            self.writes.subtract(started)
            self.writes = +self.writes  # without templates that are no longer written

    def is_writing(self, template: Key) -> bool:
        """Whether Tenants of the template may be created that no cache holds yet. The template keeps its finalizer as
        long: no controller would delete a Tenant that outlives its template."""
        return self.writes[template] > 0
