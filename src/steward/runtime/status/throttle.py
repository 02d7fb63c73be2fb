"""Throttles status updates that only report progress.

While pods start, every message is outdated by the next one, and writing a status for each would cost more than creating
the pods. Two updates are enough for an object that becomes ready: what it waits for, and that it is ready. An update in
between is useful only when progress has stopped. A fixed number of seconds cannot tell that: on a busy machine half a
minute between two pods is normal. So progress counts as stopped when nothing has changed for as long as all progress
before it took. Writing progress every few seconds was tried and rejected: the slower the API server is, the more is
then written to it.

A cause that a user may have to fix is more than progress: it is reported almost at once, and that another cause has
replaced it, or that none is left, after some seconds. Urgent updates are written without asking the throttle.

    throttle = StatusThrottle(clock)
    update = StatusUpdate(content_hash(status), is_blocked=...)
    wait = throttle.seconds_to_wait(ref, update)
    if wait: requeue after `wait` seconds
    else:    write the status, then throttle.record(ref, update)
    ...
    throttle.forget(ref)        # the object is ready or deleted
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Manifest, Ref

INITIAL_DELAY_SECONDS = 3.0
"""An object that is ready by then needs no earlier status; any other has had none for at most this long."""
UNCHANGED_SECONDS = 10.0
BLOCKED_SECONDS = 0.5
MAX_INTERVAL_SECONDS = 60.0
"""While progress continues, the status is updated at least this often."""


class StatusUpdate(NamedTuple):
    """A status that could be written: the hash of its content, whether it names a cause that a user may have to fix,
    for how long the object has not been ready, the longest time between two updates while progress continues, and for
    how long an object may have no status at all while no cause is known."""

    content: int
    is_blocked: bool = False
    age: float = 0.0
    max_interval: float = MAX_INTERVAL_SECONDS
    initial_delay: float = INITIAL_DELAY_SECONDS


@dataclass
class _Progress:
    """Progress of one object since it was created or ceased to be ready."""

    began: float
    update: StatusUpdate
    unchanged_since: float
    blocked_since: float | None = None
    written: StatusUpdate | None = None
    written_at: float = 0.0

    def observe(self, update: StatusUpdate, now: float) -> None:
        if update.content != self.update.content:
            self.unchanged_since = now
        self.update = update
        if not update.is_blocked:
            self.blocked_since = None
        elif self.blocked_since is None:
            self.blocked_since = now

    def due_at(self) -> float:
        if self.written is None:
            return self._initial_at()
        if self.blocked_since is not None and not self.written.is_blocked:
            return self.blocked_since + BLOCKED_SECONDS
        duration = 0.0 if self.written.is_blocked else self.unchanged_since - self.began
        return min(
            self.unchanged_since + max(UNCHANGED_SECONDS, duration),
            self.written_at + self.update.max_interval,
        )

    def _initial_at(self) -> float:
        if self.blocked_since is None:
            return self.began + self.update.initial_delay
        return max(self.began + INITIAL_DELAY_SECONDS, self.blocked_since + BLOCKED_SECONDS)


class StatusThrottle:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._progress: dict[Ref, _Progress] = {}

    def seconds_to_wait(self, ref: Ref, update: StatusUpdate) -> float:
        """How long to delay this update; zero if it is due, or has the content of the last one."""
        progress, now = self._observe(ref, update)
        is_written = progress.written is not None and progress.written.content == update.content
        return 0.0 if is_written else max(0.0, progress.due_at() - now)

    def record(self, ref: Ref, update: StatusUpdate) -> None:
        """The update has been written."""
        progress, now = self._observe(ref, update)
        progress.written, progress.written_at = update, now

    def forget(self, ref: Ref) -> None:
        self._progress.pop(ref, None)

    def _observe(self, ref: Ref, update: StatusUpdate) -> tuple[_Progress, float]:
        now = self._clock.monotonic()
        progress = self._progress.get(ref)
        if progress is None:
            progress = self._progress[ref] = _Progress(now - update.age, update, now)
        progress.observe(update, now)
        return progress, now


def content_hash(status: Manifest) -> int:
    """Hash of the status without transition times: those of a status that is not written yet change every time."""
    conditions = [_without_time(condition) for condition in status["conditions"]]
    return hash(msgspec.json.encode({**status, "conditions": conditions}, order="deterministic"))


def _without_time(condition: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in condition.items() if name != "lastTransitionTime"}
