"""Waits for the end of earlier measurements: deletion keeps a control plane as busy as creation."""

from __future__ import annotations

import asyncio
import json

from bench.measuring.bare_client import BareClient

_POLL_SECONDS = 1.0


async def until_none_terminates(bare: BareClient, prefix: str) -> None:
    """Wait until no namespace whose name begins so is terminating."""
    while await _terminating(bare, prefix):  # noqa: ASYNC110 - another process decides
        await asyncio.sleep(_POLL_SECONDS)


async def _terminating(bare: BareClient, prefix: str) -> list[str]:
    found = json.loads(await bare.get("/api/v1/namespaces"))["items"]
    terminating = (item["metadata"]["name"] for item in found if item["status"]["phase"] == "Terminating")
    return [name for name in terminating if name.startswith(prefix)]
