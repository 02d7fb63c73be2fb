"""The objects below an owner are built once for the same inputs, as long as the owner is not ready.

Most looks are about pods that come up, and what is wanted does not depend on those. A draft is never changed by whoever
reads it: what differs from it is a copy.
"""

from collections.abc import Callable
from typing import NamedTuple

from steward.kube.objects.kinds import Manifest, Ref


class Draft(NamedTuple):
    inputs: object
    objects: list[Manifest]


class Drafts:
    def __init__(self) -> None:
        self._made: dict[Ref, Draft] = {}

    def of(self, owner: Ref, inputs: object, build: Callable[[], list[Manifest]]) -> list[Manifest]:
        """What `build` made of equal inputs, else what it makes of these."""
        made = self._made.get(owner)
        if made is None or made.inputs != inputs:
            made = self._made[owner] = Draft(inputs, build())
        return made.objects

    def forget(self, owner: Ref) -> None:
        self._made.pop(owner, None)
