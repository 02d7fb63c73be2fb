"""A held deletion, and the words that let exactly that set go.

An approval is `<count>-<digest>` of the names. It names one set and no other: a Tenant more or less, and it is void.
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
    HoldReason.TOO_MANY: "more Tenants than deletionGuard.maxCount would go at once",
    HoldReason.TOO_MANY_PERCENT: "a larger share of the Tenants than deletionGuard.maxPercent would go at once",
}


class Hold(NamedTuple):
    """What would be deleted, and is not."""

    reason: HoldReason
    size: int
    digest: str
    sample: tuple[str, ...]
    undo: str = "Bring the rows back"
    """What to do if they should not go."""

    @classmethod
    def of(cls, reason: HoldReason, names: Iterable[str]) -> Self:
        ordered = sorted(names)
        return cls(reason, len(ordered), digest_of(ordered), tuple(ordered[:SAMPLE]))

    @property
    def approve_with(self) -> str:
        """The value of the annotation; none where no approval helps."""
        return "" if self.reason is HoldReason.EMPTY_RESULT else f"{self.size}-{self.digest}"

    @property
    def message(self) -> str:
        more = self.size - len(self.sample)
        names = ", ".join(self.sample) + (f" and {more} more" if more else "")
        return f"{self.size} Tenants are not deleted: {_WHY[self.reason]} ({names}). {self._cure}"

    @property
    def _cure(self) -> str:
        if self.reason is HoldReason.EMPTY_RESULT:
            return "Bring the rows back, or set deletionGuard.allowEmpty if the table is meant to be empty."
        return (
            f"{self.undo}, or let exactly these go with the annotation "
            f'{APPROVE_DELETION}: "{self.approve_with}".'
        )


def digest_of(names: Iterable[str]) -> str:
    # Names of objects never hold a 0 byte, so two sets never spell the same text.
    return hashlib.sha256("\0".join(sorted(names)).encode()).hexdigest()[:DIGEST_LENGTH]


def names_exactly(approval: str, names: Iterable[str]) -> bool:
    ordered = sorted(names)
    return bool(ordered) and approval.strip() == f"{len(ordered)}-{digest_of(ordered)}"
