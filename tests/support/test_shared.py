"""A resource that the workers of one run share is started once and stopped once, in whatever order they finish."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.shared import shared_resource


class Resource:
    """Logs its starts and stops."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @contextmanager
    def __call__(self) -> Iterator[str]:
        self.log.append("started")
        yield f"number {self.log.count('started')}"
        self.log.append("stopped")


def test_the_first_user_starts_it_and_the_others_find_it(tmp_path: Path) -> None:
    resource = Resource()
    with shared_resource(tmp_path, resource) as first:
        with shared_resource(tmp_path, resource) as second:
            assert first == second == "number 1"
        assert resource.log == ["started"]
    assert resource.log == ["started", "stopped"]


def test_it_is_stopped_only_after_its_last_user_has_finished(tmp_path: Path) -> None:
    resource = Resource()
    first, second = shared_resource(tmp_path, resource), shared_resource(tmp_path, resource)
    with ThreadPoolExecutor(1) as thread:
        first.__enter__()
        second.__enter__()
        finishing = thread.submit(first.__exit__, None, None, None)
        # It cannot have been stopped: the second still uses it.
        assert resource.log == ["started"]
        second.__exit__(None, None, None)
        finishing.result(timeout=60)
    assert resource.log == ["started", "stopped"]


def test_a_user_that_comes_after_the_stop_starts_another(tmp_path: Path) -> None:
    resource = Resource()
    with shared_resource(tmp_path, resource):
        pass
    with shared_resource(tmp_path, resource) as later:
        assert later == "number 2"
