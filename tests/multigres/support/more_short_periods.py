"""Periods that operators of some files have besides `operator.SHORT`: with them the others would only write more."""

from collections.abc import Mapping

from tests.multigres.support.operator import SHORT

EARLY_STATUS: Mapping[str, float] = {
    **SHORT,
    "steward.multigres.controllers.common.reporting:CHILD_SECONDS": 1.0,
    "steward.multigres.controllers.common.reporting:LONGEST_CHILD_SECONDS": 2.0,
    "steward.runtime.status.throttle:UNCHANGED_SECONDS": 2.0,
    "steward.runtime.status.throttle:MAX_INTERVAL_SECONDS": 3.0,
}
"""For tests that read the status of a child which does not become ready."""
QUICK_BACKUPS: Mapping[str, float] = {**SHORT, "steward.multigres.backups.progress:POLL_SECONDS": 0.5}
"""For tests that wait for backups."""
