"""Runs `steward page` for the cluster of `steward up`, as the administrator of its kubeconfig.

The page writes its one-time URL to a file, and a new one when the last was used: `steward up` prints the current one.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Final

from steward.local.control_plane import ControlPlane
from steward.local.processes import Lifetime
from steward.local.settings import Layout

START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.05


async def start(plane: ControlPlane, lifetime: Lifetime) -> str:
    """Start the page if it does not run for this API server, and return its URL; "" if it does not come up."""
    layout = Layout(plane.directory)
    service = layout.page_service()
    if not service.is_running():
        layout.page_url.unlink(missing_ok=True)
        service.start(_command(plane), lifetime)
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while service.is_running() and asyncio.get_running_loop().time() < deadline:
        if layout.page_url.exists():
            return layout.page_url.read_text().strip()
        await asyncio.sleep(_POLL_SECONDS)
    return ""


async def stop(plane: ControlPlane) -> None:
    await Layout(plane.directory).page_service().stop(_STOP_SECONDS)


def _command(plane: ControlPlane) -> list[str]:
    layout = Layout(plane.directory)
    return [
        *(sys.executable, "-m", "steward.cli.main", "page", "--no-open", "--actions"),
        f"--kubeconfig={plane.kubeconfig}",
        f"--url-file={layout.page_url}",
    ]
