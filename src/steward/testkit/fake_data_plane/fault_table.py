"""The faults of every object: those of its annotation, and those that a test has injected."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata, key_of
from steward.testkit.fake_data_plane.faults import (
    ANNOTATION,
    DataPlaneFault,
    FaultWord,
    FaultWords,
    parse_faults,
)

log = logging.getLogger(__name__)


class FaultTable:
    """Objects are named by their keys: the names of TopoServers, Shards and pods differ."""

    def __init__(self) -> None:
        self._injected: dict[Key, FaultWords] = {}
        self._unknown_words: dict[Key, list[str]] = {}

    def inject(self, key: Key, faults: Iterable[DataPlaneFault | FaultWord]) -> None:
        """Replace the injected faults of an object."""
        words = frozenset(each if isinstance(each, FaultWord) else FaultWord(each) for each in faults)
        self._injected[key] = words

    def of_name(self, key: Key) -> FaultWords:
        """The injected faults of an object that may not exist."""
        return self._injected.get(key, frozenset())

    def of_object(self, seen: HasMetadata) -> FaultWords:
        key = key_of(seen)
        annotated, unknown = parse_faults(seen.metadata.annotations)
        if unknown and self._unknown_words.get(key) != unknown:
            known = ", ".join(fault.value for fault in DataPlaneFault)
            log.warning("%s of %s: %s is not one of %s", ANNOTATION, key, unknown, known)
        self._unknown_words[key] = unknown
        return annotated | self.of_name(key)
