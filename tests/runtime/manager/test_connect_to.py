"""Mapping of cluster addresses for operators outside the cluster."""

import logging
from pathlib import Path

import pytest

from steward.runtime.manager.connect_to import Forward, ForwardFile, Redirect, write_forwards

TOPO = Forward("mini-global-topo.shop.svc", 2379, "127.0.0.1", 4001)


def test_an_address_without_a_forward_is_not_changed() -> None:
    assert Redirect((TOPO,))("mini-global-topo.shop.svc", 2380) == ("mini-global-topo.shop.svc", 2380)


def test_a_forward_maps_an_address_and_brackets_are_ignored() -> None:
    redirect = Redirect((TOPO, Forward("db", 5432, "[::1]", 15432)))
    assert redirect(TOPO.host, TOPO.port) == ("127.0.0.1", 4001)
    assert redirect("db", 5432) == ("::1", 15432)


def test_a_forward_added_to_the_file_is_used_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "forwards"
    redirect = Redirect((ForwardFile(file),))
    assert redirect(TOPO.host, TOPO.port) == (TOPO.host, TOPO.port)
    write_forwards(file, [TOPO])
    assert redirect(TOPO.host, TOPO.port) == ("127.0.0.1", 4001)
    write_forwards(file, [TOPO._replace(to_port=4002)])
    assert redirect(TOPO.host, TOPO.port) == ("127.0.0.1", 4002)
    file.unlink()
    assert redirect(TOPO.host, TOPO.port) == (TOPO.host, TOPO.port)


def test_an_invalid_line_is_ignored_and_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "forwards"
    file.write_text(f"# by hand\n\nnonsense\n  {TOPO}  \n")
    redirect = Redirect((ForwardFile(file),))
    with caplog.at_level(logging.WARNING):
        assert redirect(TOPO.host, TOPO.port) == ("127.0.0.1", 4001)
        redirect(TOPO.host, TOPO.port)
    assert [record.getMessage() for record in caplog.records] == [
        f"{file}, line 3: 'nonsense' is not HOST:PORT:ADDRESS:PORT; the line is ignored"
    ]


def test_an_unreadable_file_keeps_the_last_forwards(tmp_path: Path) -> None:
    file = tmp_path / "forwards"
    write_forwards(file, [TOPO])
    redirect = Redirect((ForwardFile(file),))
    redirect(TOPO.host, TOPO.port)
    file.unlink()
    file.mkdir()
    assert redirect(TOPO.host, TOPO.port) == ("127.0.0.1", 4001)
