"""What tests stand on: one real control plane and one real server of each database per run, a namespace per test.

Each is started when the first test asks for it, so pure tests start nothing. STEWARD_TEST_CONTROL_PLANE names the
directory of a control plane that already runs (`steward up --bare --detach --dir D`), for those who run pytest often.
The workers of one run (`pytest -n 3`) share the control plane; each has its own databases.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from xdist.remote import Producer

from steward.local import control_plane as local
from steward.local.errors import LocalError
from steward.local.processes import Lifetime
from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import Silent
from steward.local.settings import ControlPlaneSettings
from tests.support import namespaces, rbac_comparison
from tests.support.api_server import ApiServer
from tests.support.database_servers import DatabaseServer, mariadb_server, postgres_server
from tests.support.scheduling import FileByFile, longest_first
from tests.support.shared import run_directory, shared


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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileByFile:
    return FileByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        longest_first(items)


_IN_USE = pytest.StashKey[ExitStack]()
_RIGHTS = pytest.StashKey[rbac_comparison.Comparison]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_RIGHTS] = rbac_comparison.Comparison(config)
    config.pluginmanager.register(config.stash[_RIGHTS])


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_IN_USE] = ExitStack()
    # Control planes and kubectl, which are Go, collect their garbage less often: memory for time.
    os.environ.setdefault("GOGC", "400")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Not at the end of a fixture: a worker waits here for the others, and a test has a time limit."""
    session.config.stash[_IN_USE].close()


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> local.ControlPlane:
    """A running control plane that all tests of this run share, in all workers."""
    if kept := namespaces.kept_plane():
        return _found(kept)
    in_use = request.config.stash[_IN_USE]
    record = request.config.stash[_RIGHTS].record
    plane = shared(run_directory(tmp_path_factory), lambda: running_plane(record))
    return _found(Path(in_use.enter_context(plane)))


@pytest.fixture(scope="session")
def rights_record(request: pytest.FixtureRequest) -> rbac_comparison.Record:
    """What was seen of the operators' rights."""
    return request.config.stash[_RIGHTS].record


@contextmanager
def running_plane(record: rbac_comparison.Record, *admission_plugins: str) -> Iterator[str]:
    """The directory of a control plane that is thrown away afterwards; what it tells of rights stays."""
    directory = Path(tempfile.mkdtemp(prefix="steward-test-"))
    # A loop of its own: asyncio.run would take away the one that pytest-asyncio has set.
    loop = asyncio.new_event_loop()
    try:
        settings = ControlPlaneSettings(
            directory, lifetime=Lifetime.PARENT, admission_plugins=admission_plugins
        )
        loop.run_until_complete(_started(settings))
        yield str(directory)
    finally:
        loop.run_until_complete(local.stop(directory))
        loop.close()
        record.read(directory)
        shutil.rmtree(directory, ignore_errors=True)


async def _started(settings: ControlPlaneSettings) -> None:
    if not all(map(binaries.is_built, PROGRAMS.values())):
        pytest.fail(
            "the control plane is not built yet: run `make binaries`, which shows how far it is (minutes)"
        )
    try:
        await local.start(settings, Silent())
    except LocalError as error:
        pytest.fail(f"the tests need a control plane: {error}")


def _found(directory: Path) -> local.ControlPlane:
    try:
        return local.find(directory)
    except LocalError as error:
        pytest.fail(f"the control plane in {directory}: {error}")


@pytest.fixture(scope="session")
def api_server(control_plane: local.ControlPlane) -> ApiServer:
    return ApiServer(control_plane.kubeconfig)


@pytest.fixture
def namespace(api_server: ApiServer) -> Iterator[str]:
    """A namespace for one test."""
    name = namespaces.make(api_server)
    yield name
    namespaces.leave(api_server, name)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[DatabaseServer]:
    """A real MariaDB server that all tests of this process share."""
    with mariadb_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[DatabaseServer]:
    """A real PostgreSQL server that all tests of this process share."""
    with postgres_server() as server:
        yield server
