"""Commands that `steward up` suggests to try on the sample. Pure."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import NamedTuple

from steward.local.sample import objects
from steward.local.sample.objects import Databases, SampleOptions

FormatCommand = Callable[[str], str]
"""Returns the complete command line for a verb and its arguments."""


class SuggestedStep(NamedTuple):
    description: str
    verb: str
    needs_databases: bool = False
    needs_cells: int = 0


CHANGE_STEPS = (
    SuggestedStep("a new row becomes an application and a database", "sample add nimbus --plan gold"),
    SuggestedStep("deactivating a row deletes its objects", "sample deactivate bluebird"),
    SuggestedStep("an empty table deletes nothing: the guard holds the deletions", "sample empty"),
    SuggestedStep(
        "under Manual a changed template waits until you accept it",
        f"kubectl patch shardtemplate standard -n {objects.NAMESPACE} --type merge "
        """-p '{"spec":{"pools":{"main":{"replicasPerCell":2}}}}'""",
        needs_databases=True,
    ),
    SuggestedStep(
        "a removed cell leaves the topology first, then its pods are deleted",
        f"kubectl patch multigrescluster {objects.CLUSTER} -n {objects.NAMESPACE} --type json "
        """-p '[{"op":"remove","path":"/spec/cells/2"}]'""",
        needs_databases=True,
        needs_cells=3,
    ),
)
INSPECT_STEPS = (
    SuggestedStep("watch it all", f"tree -n {objects.NAMESPACE} --local --watch"),
    SuggestedStep(
        "what an object is waiting for",
        f"why multigrescluster/{objects.CLUSTER} -n {objects.NAMESPACE} --local",
        needs_databases=True,
    ),
    SuggestedStep(
        "template changes that wait for approval",
        f"updates show {objects.CLUSTER} -n {objects.NAMESPACE} --local",
        needs_databases=True,
    ),
    SuggestedStep("restore the rows", "sample refill"),
)


def next_step_lines(call: FormatCommand, width: int, options: SampleOptions) -> list[str]:
    """Wraps descriptions to the width. Commands are never wrapped, so that they can be copied."""

    def possible(steps: tuple[SuggestedStep, ...]) -> list[SuggestedStep]:
        return [step for step in steps if _is_possible(step, options)]

    return [
        "Try:",
        *(
            line
            for number, step in enumerate(possible(CHANGE_STEPS), 1)
            for line in _step_lines(f"{number}. ", step, call, width)
        ),
        "And look:",
        *(line for step in possible(INSPECT_STEPS) for line in _step_lines("", step, call, width)),
    ]


def _is_possible(step: SuggestedStep, options: SampleOptions) -> bool:
    if len(objects.cluster_zones(options)) < step.needs_cells:
        return False
    return options.databases is Databases.INCLUDED or not step.needs_databases


def _step_lines(mark: str, step: SuggestedStep, call: FormatCommand, width: int) -> list[str]:
    description = wrap(
        step.description, width, initial_indent=f"  {mark}", subsequent_indent="  " + " " * len(mark)
    )
    return [*description, f"     {call(step.verb)}"]
