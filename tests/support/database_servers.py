"""Real MariaDB and PostgreSQL servers for one test run: in a temporary directory, on a free port, never as root.

The kernel kills them when the test run ends, for whatever reason. If a program is missing, the error names its package.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

# The names of the server program, by package.
SERVERS = {"mariadb-server": ("mariadbd", "mysqld"), "postgresql": ("postgres",)}

NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_LOOPBACK = "127.0.0.1"
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0


@dataclass(frozen=True)
class DatabaseServer:
    host: str
    port: int
    user: str
    password: str
    socket: Path


@contextmanager
def mariadb_server(files: Mapping[str, bytes] = NO_FILES) -> Iterator[DatabaseServer]:
    """Run MariaDB; `files` become options that name private files, such as `ssl-cert`."""
    install = _find("mariadb-install-db", "mysql_install_db", package="mariadb-server")
    daemon = _find(*SERVERS["mariadb-server"], package="mariadb-server")
    with server_directory() as directory:
        server = new_server(directory, "mariadb.sock")
        data, log = directory / "data", directory / "mariadb.log"
        accounts = directory / "accounts.sql"
        accounts.write_text(
            f"CREATE USER '{server.user}'@'%' IDENTIFIED BY '{server.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{server.user}'@'%' WITH GRANT OPTION;\n"
        )
        run_program(
            log,
            install,
            "--no-defaults",
            f"--datadir={data}",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        )
        command = [
            daemon, "--no-defaults", f"--datadir={data}", f"--socket={server.socket}", f"--port={server.port}",
            "--bind-address=127.0.0.1", f"--pid-file={directory}/mariadb.pid", f"--init-file={accounts}",
            "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=64M",
            "--character-set-server=utf8mb4", "--skip-name-resolve",
            *(f"--{name}={private_file(directory / name, content)}" for name, content in files.items()),
        ]  # fmt: skip
        with running_program(log, command, signal.SIGTERM) as process:
            wait_until_ready(process, log, lambda: is_greeted(server.port))
            yield server


def archiving_postgres_server(command: str) -> AbstractContextManager[DatabaseServer]:
    """Run PostgreSQL that archives its WAL with a command, in which `{directory}` is that of the server's socket."""
    return postgres_server(settings=("archive_mode=on", f"archive_command={command}"))


@contextmanager
def postgres_server(host: str = _LOOPBACK, settings: Sequence[str] = ()) -> Iterator[DatabaseServer]:
    """Run PostgreSQL on an address of this machine."""
    initdb = _find("initdb", package="postgresql")
    daemon = _find("postgres", package="postgresql")
    ready = _find("pg_isready", package="postgresql")
    with server_directory() as directory:
        port = _free_port()
        server = replace(new_server(directory, f".s.PGSQL.{port}", port), host=host)
        data, log = directory / "data", directory / "postgres.log"
        password = directory / "password"
        password.write_text(server.password)
        run_program(
            log, initdb, "-D", str(data), f"--username={server.user}", f"--pwfile={password}",
            "--auth=scram-sha-256", "--no-sync", "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        with (data / "pg_hba.conf").open("a") as rules:
            # By default only clients on this machine's loopback addresses may connect.
            rules.write("host all all samenet scram-sha-256\n")
        command = [
            daemon, "-D", str(data), "-p", str(server.port), "-k", str(directory),
            "-c", f"listen_addresses={host}", "-c", "fsync=off", "-c", "max_connections=200",
            *(word for each in settings for word in ("-c", each.replace("{directory}", str(directory)))),
        ]  # fmt: skip
        # On SIGTERM PostgreSQL waits until the last client has disconnected; on SIGINT it shuts down at once.
        with running_program(log, command, signal.SIGINT) as process:
            wait_until_ready(process, log, lambda: _succeeds(ready, "-q", "-h", host, "-p", str(server.port)))
            yield server


def private_file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    if os.getuid() == 0:
        shutil.chown(path, "nobody", "nogroup")
    return path


def new_server(directory: Path, socket_name: str, port: int | None = None) -> DatabaseServer:
    return DatabaseServer(
        _LOOPBACK, port or _free_port(), "steward", secrets.token_hex(8), directory / socket_name
    )


def _find(*names: str, package: str) -> str:
    found = find_program(*names)
    if found is None:
        pytest.fail(
            f"{names[0]} is not installed: run `apt-get install {package}` (Debian, Ubuntu) and the tests again."
        )
    return found


def find_program(*names: str) -> str | None:
    """The path of the first of these programs that is installed."""
    # On Debian servers are not on PATH: PostgreSQL is in a directory by version, MariaDB in sbin.
    directories = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda directory: int(directory.parent.name),
        reverse=True,
    )
    path = os.pathsep.join(
        [*map(str, directories), os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]
    )
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


@contextmanager
def server_directory() -> Iterator[Path]:
    # Not pytest's tmp_path: other users cannot read that, and its long path does not fit into a socket address.
    directory = Path(tempfile.mkdtemp(prefix="steward-db-"))
    if os.getuid() == 0:
        shutil.chown(directory, "nobody", "nogroup")
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _unprivileged(command: list[str]) -> list[str]:
    setpriv = _find("setpriv", package="util-linux")
    identity = ["--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
    return [setpriv, *identity, "--pdeathsig=KILL", "--", *command]


def run_program(log: Path, *command: str) -> None:
    with log.open("ab") as output:
        done = subprocess.run(
            _unprivileged(list(command)),
            stdout=output,
            stderr=output,
            check=False,
            cwd=log.parent,
            timeout=300,
        )
    if done.returncode:
        pytest.fail(f"{command[0]} failed; its output ends with:\n{log.read_text()[-2000:]}")


@contextmanager
def running_program(
    log: Path, command: list[str], stop_signal: signal.Signals
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("ab") as output:
        process = subprocess.Popen(_unprivileged(command), stdout=output, stderr=output, cwd=log.parent)
    try:
        yield process
    finally:
        process.send_signal(stop_signal)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=60)


def wait_until_ready(process: subprocess.Popen[bytes], log: Path, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"the database server did not start; its log ends with:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def is_greeted(port: int) -> bool:
    """Whether MariaDB or MySQL sends its greeting, which it does once its accounts are created."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            return bool(connection.recv(1))
    except OSError:
        return False


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, check=False, timeout=300).returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
