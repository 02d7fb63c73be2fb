"""A held deletion, and the approval that releases exactly that set. Pure.

An approval is `<count>-<digest>` of the names. It names one set: with one Tenant more or less it is void.
"""

import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple, Self

from steward.tenants.labels import APPROVE_DELETION

SAMPLE: Final = 10
DIGEST_LENGTH: Final = 12


class HoldReason(StrEnum):
    EMPTY_RESULT = "EmptyResult"
    TOO_MANY = "TooManyAtOnce"
    TOO_MANY_PERCENT = "TooLargeAShareAtOnce"


_WHY: Final = {
    HoldReason.EMPTY_RESULT: "the table has no rows",
    HoldReason.TOO_MANY: "more Tenants than deletionGuard.maxCount would be deleted at once",
    HoldReason.TOO_MANY_PERCENT: "a larger share of the Tenants than deletionGuard.maxPercent would be deleted at once",
}


class DeletionHold(NamedTuple):
    """A set of Tenants that is not deleted until it is approved."""

    reason: HoldReason
    size: int
    digest: str
    sample: tuple[str, ...]
    undo: str = "Restore the rows"
    """What to do instead, if they should not be deleted."""

    @classmethod
    def for_tenants(cls, reason: HoldReason, names: Iterable[str]) -> Self:
        ordered = sorted(names)
        return cls(reason, len(ordered), names_digest(ordered), tuple(ordered[:SAMPLE]))

    @property
    def approve_with(self) -> str:
        """The value of the approval annotation; empty where no approval is possible."""
        return "" if self.reason is HoldReason.EMPTY_RESULT else f"{self.size}-{self.digest}"

    @property
    def message(self) -> str:
        more = self.size - len(self.sample)
        names = ", ".join(self.sample) + (f" and {more} more" if more else "")
        return f"{self.size} Tenants are not deleted: {_WHY[self.reason]} ({names}). {self._cure}"

    @property
    def _cure(self) -> str:
        if self.reason is HoldReason.EMPTY_RESULT:
            return "Restore the rows, or set deletionGuard.allowEmpty if the table is meant to be empty."
        return (
            f"{self.undo}, or approve the deletion of exactly these with the annotation "
            f'{APPROVE_DELETION}: "{self.approve_with}".'
        )


def names_digest(names: Iterable[str]) -> str:
    # Object names never contain a NUL byte, so two different sets never join to the same text.
    return hashlib.sha256("\0".join(sorted(names)).encode()).hexdigest()[:DIGEST_LENGTH]


def approves_exactly(approval: str, names: Iterable[str]) -> bool:
    ordered = sorted(names)
    return bool(ordered) and approval.strip() == f"{len(ordered)}-{names_digest(ordered)}"
