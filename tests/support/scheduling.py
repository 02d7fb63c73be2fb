"""Which worker runs what, when a run has several (`pytest -n 3`): file by file, the longest first.

Tests of one file share operators and namespaces, so a file stays in one hand. Tests that change what all namespaces of
the control plane see name what they change in ALONE_WITH: their files form one piece of work and never meet.
"""

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

# Files that are begun first: what takes long must not be what is begun last. Only a hint, found by `--durations`.
LONGEST: tuple[str, ...] = (
    "tests/runtime/integration/test_sample_controller_crashes.py",
    "tests/cli/test_demo.py",
    "tests/multigres/integration/test_webhooks.py",
    "tests/multigres/crashes/test_removal.py",
    "tests/gotemplate/test_conformance.py",
    "tests/multigres/integration/test_volumes.py",
    "tests/tenants/integration/test_database_failures.py",
    "tests/install/test_installation.py",
    "tests/install/test_as_installed.py",
    "tests/multigres/crashes/test_rollout.py",
    "tests/multigres/integration/test_template_updates.py",
    "tests/runtime/integration/test_sample_controller_lease.py",
    "tests/cli/commands/test_up.py",
    "tests/runtime/integration/test_sample_controller_watches.py",
    "tests/install/test_image.py",
    "tests/gotemplate/test_hostile.py",
    "tests/multigres/integration/test_rollout.py",
    "tests/multigres/integration/test_samples.py",
    "tests/tenants/integration/test_tenant_survives_crashes.py",
    "tests/local/test_control_plane.py",
    "tests/multigres/crashes/test_volumes.py",
    "tests/multigres/integration/test_cluster_deletion.py",
    "tests/multigres/integration/test_operator.py",
    "tests/multigres/integration/test_toposerver_deletion.py",
    "tests/multigres/integration/test_objects.py",
)

# By what they share, the files that must not run at the same time.
ALONE_WITH: dict[str, tuple[str, ...]] = {
    "an installation": ("tests/install/test_installation.py", "tests/install/test_as_installed.py"),
}

_PLACE = {file: place for place, file in enumerate(LONGEST)}
_SHARED = {file: what for what, files in ALONE_WITH.items() for file in files}


class FileByFile(LoadScopeScheduling):
    """A scope is a file, or all files that share something."""

    def __init__(self, config: pytest.Config, log: Producer) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        file = _file(nodeid)
        return _SHARED.get(file, file)


def longest_first(items: list[pytest.Item]) -> None:
    """Pure files come last: they are short, and fill what time is left evenly."""
    served = {_file(item.nodeid) for item in items if "control_plane" in getattr(item, "fixturenames", ())}

    def place(item: pytest.Item) -> tuple[int, bool]:
        file = _file(item.nodeid)
        return _PLACE.get(file, len(_PLACE)), file not in served

    items.sort(key=place)


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
