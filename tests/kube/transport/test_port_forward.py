"""Connections to ports of pods that the API server refuses; `test_forward_server.py` has those that it accepts."""

import pytest

from steward.kube.config.settings import ConnectionSettings
from steward.kube.objects.kinds import Key
from steward.kube.transport.port_forward import ForwardError, PodPort, PortForwarder
from tests.cli.support.pod_stream_server import PodStreamServer, running_server

TARGET = PodPort(Key("shop", "gateway-0"), 5432)


async def test_a_denied_request_names_the_rights_that_are_missing() -> None:
    with running_server(PodStreamServer(denied={"/portforward"})) as server:
        forwarder = PortForwarder(ConnectionSettings(server=server.url))
        with pytest.raises(ForwardError, match="the rights to get and create pods/portforward"):
            async with forwarder.connect(TARGET):
                raise AssertionError("the connection was accepted")


async def test_a_server_that_is_not_there_is_named() -> None:
    forwarder = PortForwarder(ConnectionSettings(server="http://127.0.0.1:9"))
    with pytest.raises(ForwardError, match="cannot reach port 5432 of pod shop/gateway-0: Cannot connect"):
        async with forwarder.connect(TARGET):
            raise AssertionError("the connection was accepted")
