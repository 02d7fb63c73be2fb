"""How psql reaches a cluster: the gateway, the login, the environment and the file with the password."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

from steward.cli.operations.gateway_session import (
    Login,
    client_environment,
    login_of,
    password_file,
    ready_gateway,
    socket_path,
)
from steward.cli.operations.outcome import RequestError
from steward.kube.objects.kinds import Key

DB = Key("shop", "db")


def pod(name: str, ready: str, **meta: str) -> dict[str, Any]:
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {"name": name, "namespace": "shop", **meta}, "status": status}


def test_a_ready_gateway_is_chosen() -> None:
    leaving = pod("a", "True", deletionTimestamp="2026-01-01T00:00:00Z")
    assert ready_gateway([leaving, pod("b", "False"), pod("c", "True")], DB) == Key("shop", "c")


def test_without_a_ready_gateway_nothing_is_tried() -> None:
    with pytest.raises(RequestError, match="no gateway of MultigresCluster shop/db is ready"):
        ready_gateway([pod("b", "False")], DB)


def test_the_login_is_that_of_the_connection_secret() -> None:
    values = {"user": "postgres", "dbname": "orders", "password": "p:w\\d"}
    data = {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}
    assert login_of({"data": data}) == Login("postgres", "orders", "p:w\\d")


def test_a_login_shows_no_password() -> None:
    assert "s3cret" not in repr(Login("postgres", "orders", "s3cret"))


def test_the_password_is_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    file = password_file(Login("postgres", "orders", "p:w\\d"), tmp_path)
    assert file is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text() == "*:*:*:*:p\\:w\\\\d\n"


def test_the_environment_leads_psql_to_the_socket_and_has_no_password(tmp_path: Path) -> None:
    environ = {"PATH": "/bin", "PGHOSTADDR": "10.0.0.1", "PGPASSWORD": "other", "PGOPTIONS": "-c x=1"}
    found = client_environment(Login("postgres", "orders", "s3cret"), tmp_path, environ)
    assert found == {
        "PATH": "/bin",
        "PGOPTIONS": "-c x=1",
        "PGHOST": str(tmp_path),
        "PGPORT": "5432",
        "PGUSER": "postgres",
        "PGDATABASE": "orders",
        "PGPASSFILE": str(tmp_path / "pgpass"),
    }
    assert socket_path(tmp_path).name == ".s.PGSQL.5432"


def test_without_a_password_psql_asks_for_one(tmp_path: Path) -> None:
    found = client_environment(Login(), tmp_path, {})
    assert found == {"PGHOST": str(tmp_path), "PGPORT": "5432"}
