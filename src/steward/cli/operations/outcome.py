"""Waits until the operator has acted on a request, by reading the object again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from steward.cli.hints import command_line
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Manifest, Ref

FIELD_MANAGER = "steward-cli"
POLL_SECONDS = 0.5

Report = Callable[[str], None]


class RequestError(Exception):
    """The request was not sent, or has not been carried out; the message says why and what to do."""


async def wait_until(
    client: Client, ref: Ref, is_done: Callable[[Manifest], bool], seconds: float, report: Report
) -> Manifest:
    """The object once `is_done`; reports each message of its status on the way."""
    loop, reported = asyncio.get_running_loop(), ""
    deadline = loop.time() + seconds
    while True:
        found = await client.get(ref.kind, ref.key)
        if is_done(found):
            return found
        message = status_message(found)
        if message not in ("", reported):
            report(reported := message)
        if loop.time() >= deadline:
            raise RequestError(late_message(ref, found, seconds))
        await asyncio.sleep(POLL_SECONDS)


def status_message(found: Manifest) -> str:
    return str((found.get("status") or {}).get("message") or "")


def late_message(ref: Ref, found: Manifest, seconds: float) -> str:
    reported = status_message(found)
    detail = (
        f"it reports: {reported}"
        if reported
        else f"`{command_line('doctor')}` says whether the operator runs"
    )
    return f"the operator has not carried it out within {seconds:g} s, and {ref} keeps the request; {detail}"


def condition(found: Manifest, type_: str) -> Manifest:
    """The condition of this type; empty if there is none."""
    listed = (found.get("status") or {}).get("conditions") or ()
    return next((each for each in listed if each["type"] == type_), {})


def is_observed(found: Manifest) -> bool:
    """Whether the status is about the newest spec."""
    generation = int(found["metadata"].get("generation") or 0)
    return int((found.get("status") or {}).get("observedGeneration") or 0) >= generation
