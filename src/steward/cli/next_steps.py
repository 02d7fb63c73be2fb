"""What a visitor can try on the sample: commands that can be pasted as they are. Pure."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import NamedTuple

from steward.local.sample import objects

Call = Callable[[str], str]
"""From a verb with its arguments to the whole command line."""


class Step(NamedTuple):
    aim: str
    verb: str


STEPS = (
    Step("a new row becomes an application and a database", "sample add nimbus --plan gold"),
    Step("a row that is switched off takes its objects along", "sample deactivate bluebird"),
    Step("an empty table is not believed: the guard holds", "sample empty"),
    Step(
        "under Manual a changed template waits until you accept it",
        f"kubectl patch shardtemplate standard -n {objects.NAMESPACE} --type merge "
        """-p '{"spec":{"pools":{"main":{"replicasPerCell":2}}}}'""",
    ),
    Step(
        "a cell goes in order: out of the topology first, then its pods",
        f"kubectl patch multigrescluster {objects.CLUSTER} -n {objects.NAMESPACE} --type json "
        """-p '[{"op":"remove","path":"/spec/cells/2"}]'""",
    ),
)
LOOKING = (
    Step("watch it all", f"tree -n {objects.NAMESPACE} --local --watch"),
    Step(
        "what an object waits for", f"why multigrescluster/{objects.CLUSTER} -n {objects.NAMESPACE} --local"
    ),
    Step("what waits to be accepted", f"updates show {objects.CLUSTER} -n {objects.NAMESPACE} --local"),
    Step("the rows back", "sample refill"),
)


def told(call: Call, width: int) -> list[str]:
    """Sentences are wrapped to the width; a command is one line, however long, so that it can be copied."""
    return [
        "Try:",
        *(line for number, step in enumerate(STEPS, 1) for line in _lines(f"{number}. ", step, call, width)),
        "And look:",
        *(line for step in LOOKING for line in _lines("", step, call, width)),
    ]


def _lines(mark: str, step: Step, call: Call, width: int) -> list[str]:
    aim = wrap(step.aim, width, initial_indent=f"  {mark}", subsequent_indent="  " + " " * len(mark))
    return [*aim, f"     {call(step.verb)}"]
