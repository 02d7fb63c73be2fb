"""Configuration of DNS, and the query that tells when it answers."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from steward.local.containers import dns


def test_there_is_no_upstream_server() -> None:
    text = dns.corefile("10.88.0.1", Path("/k"))
    assert "bind 10.88.0.1" in text
    assert "forward" not in text


def test_a_question_has_the_labels_of_the_name() -> None:
    assert dns.question("a.bc", 7) == (
        b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x02bc\x00\x00\x01\x00\x01"
    )


ANSWERS = {
    "an address": (b"\x00\x01\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00", True),
    "no such name": (b"\x00\x01\x81\x83\x00\x01\x00\x00\x00\x00\x00\x00", False),
    "no address": (b"\x00\x01\x81\x80\x00\x01\x00\x00\x00\x00\x00\x00", False),
    "a cut answer": (b"\x00", False),
}


@pytest.mark.parametrize(("response", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_only_an_answer_with_an_address_counts(response: bytes, expected: bool) -> None:
    assert dns.has_answer(response) is expected


async def test_a_server_is_asked_until_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        monkeypatch.setattr(dns, "DNS_PORT", server.getsockname()[1])

        def answer_once() -> None:
            question, client = server.recvfrom(512)
            server.sendto(question[:2] + ANSWERS["an address"][0][2:], client)

        thread = threading.Thread(target=answer_once)
        thread.start()
        assert await dns.answers("127.0.0.1")
        thread.join()
    assert not await dns.answers("127.0.0.1")
