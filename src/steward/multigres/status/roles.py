"""What a cluster reports about the roles of its databases. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from steward.kube.objects.conditions import FALSE, TRUE, Condition, find_condition
from steward.multigres import reasons
from steward.multigres.api.scalars import Unset
from steward.multigres.api.status import Conditions
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.status.conditions import ROLES_READY, ComponentStatus, Serving, read_conditions

CURE = "it is tried again every few seconds"


class RolesReport(NamedTuple):
    """`is_settled`: Postgres has all roles as they are declared now. `problems` are in the words of Postgres."""

    roles: int = 0
    is_settled: bool = False
    problems: Sequence[str] = ()
    waiting: str = ""

    def conditions(self, previous: Conditions | Unset, generation: int) -> tuple[Condition, ...]:
        """None for a cluster without roles. While the outcome of a change is not known the last one stays."""
        if not self.roles:
            return ()
        last = find_condition(read_conditions(previous), ROLES_READY)
        if not self.is_settled and not self.problems and last is not None:
            return (replace(last, observed_generation=generation),)
        return (self._condition(generation),)

    def _condition(self, generation: int) -> Condition:
        if self.problems:
            message = f"{'; '.join(first_texts(list(self.problems), 'problems'))}; {CURE}"
            return Condition(ROLES_READY, FALSE, reasons.ROLES_REFUSED, message, generation)
        if self.is_settled:
            message = f"declared roles in Postgres: {self.roles}"
            return Condition(ROLES_READY, TRUE, reasons.ROLES_READY, message, generation)
        message = self.waiting or "the declared roles are about to be created in Postgres"
        return Condition(ROLES_READY, FALSE, reasons.ROLES_WAITING, message, generation)


def role_components(conditions: Sequence[Condition]) -> list[ComponentStatus]:
    """A cluster whose roles were never set is not ready; a role that Postgres refuses is a problem."""
    return [
        ComponentStatus(
            "roles",
            1,
            int(each.reason != reasons.ROLES_WAITING),
            True,
            each.message if each.reason == reasons.ROLES_REFUSED else "",
            each.message if each.reason == reasons.ROLES_WAITING else "",
            Serving.YES,
        )
        for each in conditions
    ]
