"""An error that comes again in other words is told in the words that stand, until the new ones have come often enough.

A server that cannot be reached fails at one try for a name that nobody knows, at the next for an answer that came too
late. Each is true, and to write each down would be a status for every try, and one for each cluster after a restart.
"""

from steward.kube.objects.kinds import Key

OFTEN = 3


class Wording:
    def __init__(self) -> None:
        self._heard: dict[Key, tuple[str, int]] = {}

    def of(self, key: Key, standing: str, heard: str) -> str:
        """The words to tell: those that stand in the status, "" for none, or those that were heard just now."""
        words, times = self._heard.get(key, ("", 0))
        times = times + 1 if words == heard else 1
        self._heard[key] = heard, times
        return heard if not standing or times >= OFTEN else standing

    def forget(self, key: Key) -> None:
        self._heard.pop(key, None)
