"""One operator process for the tests of a file, each of which has a namespace of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steward.local.control_plane import ControlPlane
from tests.multigres.support.operator import running_operator
from tests.support import namespaces
from tests.support.api_server import ApiServer


@contextmanager
def new_namespaces(server: ApiServer, count: int) -> Iterator[list[str]]:
    found = [namespaces.create_namespace(server) for _ in range(count)]
    yield list(found)
    for name in found:
        namespaces.release_namespace(server, name)


@contextmanager
def served_namespaces(
    control_plane: ControlPlane, server: ApiServer, count: int, log: Path, **settings: str
) -> Iterator[list[str]]:
    """Namespaces with an operator, which no test has used yet: each test takes one from the list."""
    with (
        new_namespaces(server, count) as found,
        running_operator(control_plane, ",".join(found), log, **settings),
    ):
        yield found
