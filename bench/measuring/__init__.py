"""What all scenarios measure with, in the order in which a scenario uses it.

options      how large a run is
running      a scenario from its first line to its last, with nothing left behind
plane        the control plane that it measures on
bare         the floor: an HTTP client and nothing else
engine       the engine, put together as in production
depth        so many calls in flight, and what they cost
contest      several ways to do the same, in rounds, so that noise hits all of them
bytecode     what measured processes find compiled
child        a process of its own, where memory is what is measured
operator     `steward run` as a process
process      what the kernel says of a process
figures      a figure, its floor and its target
report       the table, and the JSON beside it
"""
