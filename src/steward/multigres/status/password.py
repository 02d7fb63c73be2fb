"""What a cluster reports about a changed password of its superuser. Pure."""

from typing import NamedTuple

from steward.kube.objects.conditions import TRUE, Condition
from steward.multigres import reasons
from steward.multigres.status.conditions import PASSWORD_PENDING, ComponentStatus
from steward.runtime.plan.steps import Plan, Requeue

RETRY_SECONDS = 5.0


class PublishedPassword(NamedTuple):
    """The password to publish, None if there is none yet, and why the desired one waits."""

    value: str | None = None
    waiting: str = ""
    refusal: str = ""

    def conditions(self, generation: int) -> tuple[Condition, ...]:
        if not self.waiting and not self.refusal:
            return ()
        reason = reasons.PASSWORD_REFUSED if self.refusal else reasons.PASSWORD_WAITING
        return (Condition(PASSWORD_PENDING, TRUE, reason, self.refusal or self.waiting, generation),)

    def components(self) -> list[ComponentStatus]:
        """The cluster serves with the published password; the problem is one all the same."""
        return [ComponentStatus("password", 1, 1, True, self.refusal)] if self.refusal else []

    def requeue_steps(self) -> Plan:
        return (Requeue(RETRY_SECONDS),) if self.waiting or self.refusal else ()
