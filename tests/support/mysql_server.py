"""A real MySQL server with its own libraries, for one test run: on a free port, never as root."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from steward.local.paths import cache_directory
from tests.support.database_servers import (
    NO_FILES,
    DatabaseServer,
    is_greeted,
    new_server,
    private_file,
    run_program,
    running_program,
    server_directory,
    wait_until_ready,
)
from tests.support.mysql_packages import download, unpack

MYSQL_VARIABLE = "STEWARD_TEST_MYSQL"
"""If it is set, tests that use MariaDB use MySQL instead."""


def uses_mysql() -> bool:
    return bool(os.environ.get(MYSQL_VARIABLE))


@contextmanager
def unpacked_mysql() -> Iterator[Path]:
    """In a temporary directory: the user that runs the server cannot read the cache of another one."""
    packages = download(cache_directory() / "mysql")
    with server_directory() as root:
        unpack(packages, root)
        # The packages set the mode of the directory itself as well.
        root.chmod(0o755)
        yield root


@contextmanager
def mysql_without_tls() -> Iterator[DatabaseServer]:
    with unpacked_mysql() as root, mysql_server(root) as server:
        yield server


def mysqld_command(root: Path) -> list[str]:
    """Starts the server with the loader and the libraries that were unpacked with it."""
    [loader] = [*root.glob("usr/lib*/ld-linux-*.so.*"), *root.glob("usr/lib/*/ld-linux-*.so.*")][:1]
    [libraries] = {library.parent for library in root.glob("usr/lib/*/libc.so.6")}
    return [
        str(loader), "--library-path", str(libraries), str(root / "usr/sbin/mysqld"), "--no-defaults",
        f"--lc-messages-dir={root / 'usr/share/mysql'}", f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
        f"--character-sets-dir={root / 'usr/share/mysql/charsets'}",
    ]  # fmt: skip


@contextmanager
def mysql_server(root: Path, files: Mapping[str, bytes] = NO_FILES) -> Iterator[DatabaseServer]:
    """Run MySQL; `files` become options that name private files, such as `ssl-cert`. It has no TLS without them."""
    mysqld = mysqld_command(root)
    with server_directory() as directory:
        server = new_server(directory, "mysql.sock")
        data, log = directory / "data", directory / "mysql.log"
        accounts = directory / "accounts.sql"
        accounts.write_text(
            f"CREATE USER '{server.user}'@'%' IDENTIFIED BY '{server.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{server.user}'@'%' WITH GRANT OPTION;\n"
        )
        run_program(log, *mysqld, f"--datadir={data}", "--initialize-insecure")
        command = [
            *mysqld, f"--datadir={data}", f"--socket={server.socket}", f"--port={server.port}",
            "--bind-address=127.0.0.1", f"--pid-file={directory}/mysql.pid", f"--init-file={accounts}",
            "--mysqlx=OFF", "--skip-log-bin", "--secure-file-priv=NULL", "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=64M", "--skip-name-resolve", "--log-bin-trust-function-creators=ON",
            *(f"--{name}={private_file(directory / name, content)}" for name, content in files.items()),
            *([] if files else ["--tls-version="]),
        ]  # fmt: skip
        with running_program(log, command, signal.SIGTERM) as process:
            wait_until_ready(process, log, lambda: is_greeted(server.port))
            yield server
