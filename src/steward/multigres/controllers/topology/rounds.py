"""Looks that nobody waits for are made in common rounds. Pure.

What a look costs at rest is mostly the waking: a process that slept for seconds finds its caches cold. Forty clusters
looked at one after another in one waking cost a fraction of forty wakings, and each is looked at as often as before.
"""


def until_next_round(now: float, seconds: float) -> float:
    """How long until the clock shows a multiple of `seconds`: the same moment for everybody who asks."""
    return seconds - now % seconds
