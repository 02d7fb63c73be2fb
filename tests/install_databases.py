"""`python -m tests.install_databases`: installs MariaDB and PostgreSQL for the tests if they are missing.

As root on Debian and derived distributions it installs the missing packages; elsewhere the error names them. No service
is started: the tests run their own servers.
"""

from __future__ import annotations

import sys

from tests.support.database_servers import SERVERS, find_program
from tests.support.debian_packages import install_packages


def missing_packages() -> list[str]:
    return [package for package, names in SERVERS.items() if find_program(*names) is None]


def main() -> str | None:
    """Install missing packages; return an error message, or None."""
    return install_packages(missing_packages())


if __name__ == "__main__":
    sys.exit(main())
