"""Limits of one rendering: deterministic counters, so that a template fails at the same place everywhere.

A wall-clock limit was rejected: it would make a rendering depend on the machine's load. Instead every loop turn and
call costs a step, slow functions cost several, and everything built costs its bytes before it is built.
"""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from steward.gotemplate.errors import OverBudget


class Profile(enum.Enum):
    """HERMETIC: the same data gives the same text. FULL adds the clock, random numbers and new keys."""

    HERMETIC = "hermetic"
    FULL = "full"


class Limits(NamedTuple):
    """Defaults hold any template to about 100 ms and 50 MB. A character may take four bytes while it is built."""

    source: int = 1 << 20
    output: int = 1 << 20
    built: int = 4 << 20
    steps: int = 100_000
    depth: int = 100


DEFAULT_LIMITS: Final = Limits()
BYTES_A_STEP: Final = 64
"""Reading or building so many bytes takes about as long as a plain function call, in the slower functions."""


class Budget:
    """The counters of one rendering. Functions call `build` before they build a value and `work` before slow work."""

    limits: Limits = DEFAULT_LIMITS
    # Class attributes serve as the start values, so that a rendering that charges nothing pays for nothing.
    steps = DEFAULT_LIMITS.steps
    built = DEFAULT_LIMITS.built
    depth = 0
    profile = Profile.HERMETIC

    def build(self, size: int) -> None:
        """Charge for a string of `size` bytes, or a list of half as many places, about to be made."""
        self.built -= size
        if size > BYTES_A_STEP:
            self.work(size // BYTES_A_STEP)
        if self.built < 0:
            raise OverBudget(f"builds more than the {self.limits.built} bytes that one rendering may build")

    def work(self, steps: int) -> None:
        """Charge for work that takes about as long as `steps` plain function calls (a microsecond each)."""
        self.steps -= steps
        if self.steps < 0:
            raise OverBudget(f"takes more than the {self.limits.steps} steps that one rendering may take")

    def spend(self, size: int) -> None:
        """Charge for one item of a larger whole, which takes a call or four and becomes `size` bytes.

        As `build` and `work` do, in one call: a map of three keys takes no longer to write than two calls.
        """
        self.built -= size
        self.steps -= 4 + size // 16
        if self.built < 0 or self.steps < 0:
            self.build(0)
            self.work(0)

    def enter(self, steps: int) -> None:
        """Charge for the run of a template's body."""
        self.steps -= steps
        self.depth += 1
        if self.steps < 0:
            self.work(0)
        if self.depth > self.limits.depth:
            raise OverBudget(f"exceeded maximum template depth ({self.limits.depth})")


def budget_of(limits: Limits, profile: Profile) -> Budget:
    made = Budget()
    if profile is Profile.FULL:
        made.profile = profile
    if limits is not DEFAULT_LIMITS:
        made.limits = limits
        made.steps = limits.steps
        made.built = limits.built
    return made
