"""Lines for the terminal: progress, failures, figures. Pure."""

from collections.abc import Sequence
from statistics import median

from tests.chaos.life import Outcome
from tests.chaos.story import EDITS, FAULTS, KILLS, Story, to_json


def result_line(outcome: Outcome, number: int, total: int) -> str:
    story = outcome.story
    verdict = "FAILED" if outcome.failures else "ok"
    what = f"{story.subject} {story.variant}".strip()
    return (
        f"life {number} of {total}: {verdict}  {what}, {story.origin}, {outcome.seconds:.0f} s, "
        f"{len(story.actions)} actions, {outcome.processes} processes, {outcome.peak_kib // 1024} MiB"
    )


def failure_text(outcome: Outcome) -> str:
    return "\n".join(f"  - {line}" for line in (*outcome.failures, f"logs: {outcome.directory}"))


def story_text(story: Story) -> str:
    return f"Play it again: save it as story.json, then make chaos STORY=story.json\n{to_json(story)}"


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    def total(*kinds: type) -> int:
        return sum(outcome.story.count(*kinds) for outcome in outcomes)

    memory = [outcome.peak_kib // 1024 for outcome in outcomes] or [0]
    failed = [outcome for outcome in outcomes if outcome.failures]
    lines = [
        f"{len(outcomes)} lives in {seconds:.0f} s: {total(*EDITS)} edits, {total(*FAULTS)} faults, "
        f"{total(*KILLS)} kills and pauses, {sum(outcome.processes for outcome in outcomes)} operator processes, "
        f"memory at most {max(memory)} MiB (median {median(memory):.0f} MiB)",
        f"{len(failed)} failed"
        + (": " + "; ".join(outcome.story.origin for outcome in failed) if failed else ""),
    ]
    return "\n".join(lines)
