from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from steward.local.errors import PortTaken
from steward.local.ports import LISTENERS, choose_ports, is_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_every_listener_gets_its_own_port() -> None:
    chosen = choose_ports({}, None)
    assert set(chosen) == set(LISTENERS)
    assert len(set(chosen.values())) == len(LISTENERS)


def test_the_ports_of_the_last_start_are_used_again() -> None:
    previous = choose_ports({}, None)
    assert choose_ports(previous, None) == previous


def test_only_a_port_that_has_been_taken_is_replaced(taken: int) -> None:
    previous = choose_ports({}, None) | {"kwok": taken}
    chosen = choose_ports(previous, None)
    assert chosen["kwok"] != taken
    assert {name: port for name, port in chosen.items() if name != "kwok"} == {
        name: port for name, port in previous.items() if name != "kwok"
    }


def test_a_requested_port_that_is_taken_is_an_error_with_the_cure(taken: int) -> None:
    with pytest.raises(
        PortTaken, match=rf"Port {taken} of this machine is in use: stop .* or choose another"
    ):
        choose_ports({}, taken)


def test_a_requested_port_is_the_api_servers(taken: int) -> None:
    requested = choose_ports({}, None)["kwok"]
    assert choose_ports({}, requested)["kube-apiserver"] == requested
    assert not is_free(taken)
