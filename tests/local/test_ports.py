from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from steward.local.errors import PortTaken
from steward.local.ports import LISTENERS, choose, is_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_every_listener_gets_a_port_of_its_own() -> None:
    chosen = choose({}, None)
    assert set(chosen) == set(LISTENERS)
    assert len(set(chosen.values())) == len(LISTENERS)


def test_the_ports_of_the_last_start_are_used_again() -> None:
    before = choose({}, None)
    assert choose(before, None) == before


def test_a_port_that_is_taken_meanwhile_is_replaced_and_only_that_one(taken: int) -> None:
    before = choose({}, None) | {"kwok": taken}
    chosen = choose(before, None)
    assert chosen["kwok"] != taken
    assert {name: port for name, port in chosen.items() if name != "kwok"} == {
        name: port for name, port in before.items() if name != "kwok"
    }


def test_a_port_that_was_asked_for_and_is_taken_is_one_sentence_with_the_cure(taken: int) -> None:
    with pytest.raises(
        PortTaken, match=rf"Port {taken} of this machine is in use: stop .* or ask for another"
    ):
        choose({}, taken)


def test_a_port_that_was_asked_for_goes_to_the_api_server(taken: int) -> None:
    asked = choose({}, None)["kwok"]
    assert choose({}, asked)["kube-apiserver"] == asked
    assert not is_free(taken)
