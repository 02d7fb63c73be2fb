"""Session fixtures: one real control plane and one real server of each database per run, and a namespace per test.

Each is started when the first test needs it, so pure tests start nothing. STEWARD_TEST_CONTROL_PLANE names the
directory of a running control plane to use instead (`steward up --bare --detach --dir D`), which saves its start. The
workers of one run (`pytest --workers 8`) share the control plane; each has its own databases.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from steward.local import control_plane as local
from tests.support import data_planes, leftover_processes, namespace_state, namespaces, rbac_comparison
from tests.support.api_server import ApiServer
from tests.support.control_planes import found_control_plane, running_control_plane
from tests.support.database_servers import DatabaseServer, mariadb_server, postgres_server
from tests.support.markers import mark_server_tests
from tests.support.mysql_server import mysql_without_tls, uses_mysql
from tests.support.prepared_process import close_forks
from tests.support.shared import run_directory, shared_resource
from tests.support.suites import is_left_out

pytest_plugins = ("tests.support.workers.plugin",)

# The default deadline is 200 ms for an example, which a busy machine exceeds.
hypothesis.settings.register_profile("without deadline", deadline=None)
hypothesis.settings.load_profile("without deadline")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skips into failures: a test that cannot run must say what is missing."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed: {report.longreprtext}"
    if report.failed and report.when == "call":
        report.sections += _states_of_namespaces(getattr(item, "funcargs", {}))
    return report


def _states_of_namespaces(fixtures: dict[str, Any]) -> list[tuple[str, str]]:
    """Sections of the report of a failed test. What cannot be read must not replace the failure."""
    server = fixtures.get("api_server")
    sections = []
    for name in namespace_state.namespaces_of(fixtures) if isinstance(server, ApiServer) else ():
        try:
            text = namespace_state.describe_namespace(server, name)
        except Exception as error:
            text = f"cannot be read: {error!r}"
        sections.append((f"namespace {name}", text))
    return sections


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a file that skips itself."""
    report = yield
    if report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, which counts as failed: {report.longreprtext}"
    return report


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """None lets pytest decide by its other rules."""
    return True if is_left_out(config, collection_path) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: it would look at a million objects that stay, again and again; afterwards
    it leaves them out, so that workers go on sharing their memory."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# First, because `-m` selects by these markers.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_server_tests(items)


_IN_USE = pytest.StashKey[ExitStack]()
_PERMISSIONS = pytest.StashKey[rbac_comparison.RbacComparison]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PERMISSIONS] = rbac_comparison.RbacComparison(config)
    config.pluginmanager.register(config.stash[_PERMISSIONS])
    config.pluginmanager.register(leftover_processes)


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[_IN_USE] = ExitStack()
    # Let control planes and kubectl (Go programs) collect garbage less often: more memory, less time. The limit is that
    # of each process: an API server comes near it late in a whole run, and then collects more often.
    os.environ.setdefault("GOGC", "1000")
    os.environ.setdefault("GOMEMLIMIT", "3GiB")
    # The tests themselves keep the other half of the processors busy: more threads of Go would only take turns.
    os.environ.setdefault("GOMAXPROCS", str(max(1, (os.cpu_count() or 1) // 2)))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop shared servers here, not in a fixture: a worker waits for the others, and tests have a time limit."""
    close_forks()
    session.config.stash[_IN_USE].close()


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> local.ControlPlane:
    """A running control plane that all tests and workers of this run share."""
    in_use = request.config.stash[_IN_USE]
    data_planes.open_session(in_use, run_directory(tmp_path_factory))
    if external := namespaces.external_control_plane():
        return found_control_plane(external)
    record = request.config.stash[_PERMISSIONS].record
    plane = shared_resource(run_directory(tmp_path_factory), lambda: running_control_plane(record))
    return found_control_plane(Path(in_use.enter_context(plane)))


@pytest.fixture(scope="session")
def permission_record(request: pytest.FixtureRequest) -> rbac_comparison.PermissionRecord:
    """The permissions that the operators used in this run."""
    return request.config.stash[_PERMISSIONS].record


@pytest.fixture(scope="session")
def api_server(control_plane: local.ControlPlane) -> ApiServer:
    return ApiServer(control_plane.kubeconfig)


@pytest.fixture
def namespace(api_server: ApiServer) -> Iterator[str]:
    """A namespace for one test."""
    name = namespaces.create_namespace(api_server)
    yield name
    namespaces.release_namespace(api_server, name)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[DatabaseServer]:
    """A real MariaDB server for all tests of this process, or MySQL instead (`make mysql`)."""
    with mysql_without_tls() if uses_mysql() else mariadb_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres() -> Iterator[DatabaseServer]:
    """A real PostgreSQL server for all tests of this process."""
    with postgres_server() as server:
        yield server
