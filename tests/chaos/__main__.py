"""`python -m tests.chaos`: random lives of clusters and fleets (`make chaos`)."""

import argparse
import asyncio
import itertools
import logging
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.chaos import report
from tests.chaos.environment import Environment, open_environment
from tests.chaos.generator import draw_story, known_stories
from tests.chaos.life import Outcome
from tests.chaos.runner import ShrinkLimits, run_stories, shrink
from tests.chaos.story import Story, from_json


def main(argv: Sequence[str]) -> int:
    # Control planes (Go programs) collect garbage less often: more memory, less time.
    os.environ.setdefault("GOGC", "400")
    # Without warnings about interrupted watches of the fake data plane.
    logging.basicConfig(level=logging.ERROR)
    options = _parser().parse_args(argv)
    stories = _stories(options)
    if options.print:
        print("\n".join(report.story_text(story) for story in stories))
        return 0
    return asyncio.run(_run(options, stories))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="how many lives")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all stories")
    parser.add_argument("--first", type=int, default=1, help="the number of the first life")
    parser.add_argument("--at-once", type=int, default=4, help="how many lives at a time")
    parser.add_argument("--story", type=Path, nargs="+", help="play these stories instead")
    parser.add_argument("--random-only", action="store_true", help="do not play the stories that once failed")
    parser.add_argument(
        "--shrinks", type=int, default=24, help="how many lives may be used to shrink a failure"
    )
    parser.add_argument("--quiet-seconds", type=float, default=150.0, help="how long a life may converge")
    parser.add_argument("--plane", type=Path, help="the directory of a running control plane")
    parser.add_argument("--subject", choices=("cluster", "fleet"), help="only lives of this subject")
    parser.add_argument("--print", action="store_true", help="print the stories, and run none")
    return parser


def _stories(options: argparse.Namespace) -> list[Story]:
    if options.story:
        return [from_json(path.read_bytes()) for path in options.story]
    known = [] if options.random_only else [from_json(path.read_bytes()) for path in known_stories()]
    drawn = (draw_story(options.seed, number) for number in itertools.count(options.first))
    chosen = (story for story in drawn if options.subject in (None, story.subject))
    return [*known, *itertools.islice(chosen, options.rounds)]


async def _run(options: argparse.Namespace, stories: Sequence[Story]) -> int:
    began, ended = time.monotonic(), 0

    def on_end(outcome: Outcome) -> None:
        nonlocal ended
        ended += 1
        print(report.result_line(outcome, ended, len(stories)), flush=True)
        if outcome.failures:
            print(report.failure_text(outcome), flush=True)

    async with open_environment(options.plane) as environment:
        environment.quiet_seconds = options.quiet_seconds
        outcomes = await run_stories(environment, stories, options.at_once, on_end)
        print(report.summary(outcomes, time.monotonic() - began), flush=True)
        failed = [outcome.story for outcome in outcomes if outcome.failures]
        for story in failed:
            print(report.story_text(story), flush=True)
        # Only the first: shrinking plays many lives, and the others often have the same cause.
        if failed and options.shrinks:
            await _shrink(environment, failed[0], ShrinkLimits(options.shrinks, options.at_once))
    return 1 if failed else 0


async def _shrink(environment: Environment, story: Story, limits: ShrinkLimits) -> None:
    def on_run(tried: Story, has_failed: bool) -> None:
        print(f"  {len(tried.actions)} actions: {'fails' if has_failed else 'passes'}", flush=True)

    print(f"shrinking {story.origin}", flush=True)
    shorter = await shrink(environment, story, limits, on_run)
    print(report.story_text(shorter), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
