"""Retries of the topology controller: delays after failures, and the error message that the status reports.

An unreachable server fails with a DNS error at one try and with a timeout at the next. Both are true; reporting each
would cost a status update per try, and one per cluster after a restart. The reported message therefore stays until a
different one has occurred several times in a row. Ten clusters whose servers failed in four ways in turn wrote 12
statuses in the first minute and 3 in the second; with each message reported they wrote 68 and 27.
"""

from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.controllers.common.intervals import seconds_until_next
from steward.runtime.controller.workqueue import Backoff

CHECK_SECONDS = 15.0
"""How often the records are checked when there is no other reason to. All clusters are checked at the same times."""
RETRY = Backoff(first=0.5, cap=CHECK_SECONDS, jitter=0.0)
"""Starts again whenever another member becomes ready. The cap bounds how late a record may be if a server becomes
reachable without any event in the cluster. A gateway exits after 10 s without the record of its cell, and from its
second exit on the kubelet delays the restart for longer than the cap."""
REPORT_AFTER = 3
"""A different error message is reported once it has occurred this many times in a row."""


class Failures(NamedTuple):
    """Consecutive failures while the same number of members was ready."""

    times: int
    ready_members: int


class _RepeatedMessage(NamedTuple):
    message: str
    times: int


class TopologyRetries:
    """Consecutive failures and error messages of each cluster; `forget` after a success or a deletion."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[Key, Failures] = {}
        self._messages: dict[Key, _RepeatedMessage] = {}

    def record_failure(self, cluster: Key, ready_members: int) -> Failures:
        """Failures while another number of members was ready do not count."""
        last = self._failures.get(cluster)
        times = last.times + 1 if last is not None and last.ready_members == ready_members else 1
        failures = self._failures[cluster] = Failures(times, ready_members)
        return failures

    def retry_seconds(self, failures: Failures) -> float:
        delay = RETRY.delay(failures.times, 0.0)
        return delay if delay < RETRY.cap else self.check_seconds()

    def check_seconds(self) -> float:
        return seconds_until_next(self._clock.monotonic(), CHECK_SECONDS)

    def stable_message(self, cluster: Key, reported: str, message: str) -> str:
        """The message to report: `reported`, "" if there is none, until `message` has occurred often enough."""
        last = self._messages.get(cluster)
        times = last.times + 1 if last is not None and last.message == message else 1
        self._messages[cluster] = _RepeatedMessage(message, times)
        return message if not reported or times >= REPORT_AFTER else reported

    def forget(self, cluster: Key) -> None:
        self._failures.pop(cluster, None)
        self._messages.pop(cluster, None)
