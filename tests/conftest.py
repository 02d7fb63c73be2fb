"""What tests stand on: one real control plane and one real server of each database per run, a namespace per test.

Each is started when the first test asks for it, so pure tests start nothing. STEWARD_TEST_CONTROL_PLANE names the
directory of a control plane that already runs (`steward up --detach --dir D`), for those who run pytest often.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import shutil
import ssl
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from steward.local import binaries
from steward.local import control_plane as local
from steward.local.errors import LocalError
from steward.local.processes import Lifetime
from steward.local.programs import PROGRAMS
from steward.local.progress import Silent
from steward.local.settings import ControlPlaneSettings
from tests.database_servers import DatabaseServer, mariadb_server, postgres_server

_ACCOUNT_SECONDS = 30.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Nothing is skipped: what a test needs and cannot have is a failure that says the cure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed: {report.longreprtext}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a file that skips itself as a whole."""
    report = yield
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed: {report.longreprtext}"
    return report


@pytest.fixture(scope="session")
def control_plane() -> Iterator[local.ControlPlane]:
    """A running control plane that all tests of this run share."""
    running = os.environ.get("STEWARD_TEST_CONTROL_PLANE")
    if running:
        yield _found(Path(running))
        return
    directory = Path(tempfile.mkdtemp(prefix="steward-test-"))
    # A loop of its own: asyncio.run would take away the one that pytest-asyncio has set.
    loop = asyncio.new_event_loop()
    try:
        yield loop.run_until_complete(_started(directory))
    finally:
        loop.run_until_complete(local.stop(directory))
        loop.close()
        shutil.rmtree(directory, ignore_errors=True)


async def _started(directory: Path) -> local.ControlPlane:
    if not all(map(binaries.is_built, PROGRAMS.values())):
        pytest.fail(
            "the control plane is not built yet: run `make binaries`, which shows how far it is (minutes)"
        )
    try:
        return await local.start(ControlPlaneSettings(directory, lifetime=Lifetime.PARENT), Silent())
    except LocalError as error:
        pytest.fail(f"the tests need a control plane: {error}")


def _found(directory: Path) -> local.ControlPlane:
    try:
        return local.find(directory)
    except LocalError as error:
        pytest.fail(f"STEWARD_TEST_CONTROL_PLANE={directory}: {error}")


@pytest.fixture
def namespace(control_plane: local.ControlPlane) -> Iterator[str]:
    """A namespace for one test. It is deleted at the end without waiting for it to be gone."""
    name = f"test-{secrets.token_hex(5)}"
    api = _Api(control_plane)
    api.call(
        "POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": {"steward.local/test": "true"}}}
    )
    _wait_for_account(api, name)
    yield name
    api.call("DELETE", f"/api/v1/namespaces/{name}")


def _wait_for_account(api: _Api, namespace: str) -> None:
    """No pod can be made before the namespace has its service account."""
    deadline = time.monotonic() + _ACCOUNT_SECONDS
    while api.status("GET", f"/api/v1/namespaces/{namespace}/serviceaccounts/default") != 200:
        assert time.monotonic() < deadline, f"namespace {namespace} got no service account"
        time.sleep(0.01)


class _Api:
    """The three calls that the fixtures make; not `steward.kube`, which is what the tests are about."""

    def __init__(self, plane: local.ControlPlane) -> None:
        context = ssl.create_default_context(cafile=str(plane.ca_file))
        context.load_cert_chain(plane.client.certificate, plane.client.key)
        self._address = urlsplit(plane.url).netloc
        self._context = context

    def call(self, method: str, path: str, body: Any = None) -> None:
        status = self.status(method, path, body)
        assert status < 300, f"{method} {path} answered {status}"

    def status(self, method: str, path: str, body: Any = None) -> int:
        connection = http.client.HTTPSConnection(self._address, context=self._context, timeout=30)
        headers = {"Content-Type": "application/json", "User-Agent": "steward-tests"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            return connection.getresponse().status
        finally:
            connection.close()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[DatabaseServer]:
    """A real MariaDB server that all tests of this run share."""
    with mariadb_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[DatabaseServer]:
    """A real PostgreSQL server that all tests of this run share."""
    with postgres_server() as server:
        yield server
