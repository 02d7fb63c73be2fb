"""Turns the wheel: from a change that a watch saw to the writes that answer it.

In the order in which an event travels: `triggers` and `predicates` turn a change into a key, `queue` holds the keys,
`controller` gives each to one worker and one reconcile, which returns a `plan` that `carry` carries out. Around them
`manager` starts and stops the lot, `election` says who may write, and `events`, `metrics`, `logs`, `tracing` and
`probes` tell others what happens. `settings` is the one table of what a user can set.
"""
