"""Marks tests that need a server at collection, so that `make test-fast` can run only the pure ones.

`needs_server` is set here, from the fixtures that a test uses directly or through another fixture: add a fixture that
starts a control plane or a database, or runs a built program, to SERVER_FIXTURES. Test files that start servers
themselves set the marker themselves. They also set `slow`: on pure tests that take seconds, and on builds.
"""

from collections.abc import Iterable

import pytest

SERVER_FIXTURES = frozenset({"control_plane", "own_plane", "mariadb", "postgres", "promtool", "tls_server"})


def mark_server_tests(items: Iterable[pytest.Item]) -> None:
    for item in items:
        # The whole closure: a test that uses `namespace` has `control_plane` here too.
        if SERVER_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("needs_server")
