"""The connection of a process to a real API server."""

import time

from steward.kube.objects.kinds import NAMESPACE, Key
from steward.local.control_plane import ControlPlane
from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.settings import Settings

HOUR = 3600.0


async def test_the_time_of_the_api_server_is_known_after_the_first_response(
    control_plane: ControlPlane,
) -> None:
    settings = Settings(kubeconfig=str(control_plane.kubeconfig))
    connection = await open_connection(settings, identity("engine-test"))
    try:
        assert connection.server_time.now() is None
        await connection.client.get(NAMESPACE, Key("", "default"))
        ahead = time.time() + HOUR
        # The server of a test has the clock of this machine.
        assert connection.server_time.earlier(ahead) < ahead - HOUR / 2
    finally:
        await connection.close()
