"""Groups tests for the workers of a run (`pytest --workers 8`): file by file, the longest first.

Tests of one file share operators and namespaces, so a file runs in one worker. Files whose tests change cluster-wide
state are listed in ALONE_WITH under that state: they run in one worker, one after the other.
"""

from collections.abc import Sequence

import pytest

# Files that start first, the longest of all: a long one that starts last would run alone. Only a hint, from the
# seconds of a whole run (`--durations`).
LONGEST: tuple[str, ...] = (
    "tests/multigres/integration/test_rollout.py",
    "tests/multigres/integration/test_servers.py",
    "tests/multigres/integration/test_topology.py",
    "tests/cli/test_demo.py",
    "tests/install/test_installation.py",
    "tests/install/test_as_installed.py",
    "tests/install/test_namespaced.py",
    "tests/multigres/integration/test_volumes.py",
    "tests/multigres/integration/test_operator_update.py",
    "tests/multigres/integration/test_unregistered_deletion.py",
    "tests/multigres/integration/test_restore.py",
    "tests/tenants/integration/test_database_failures.py",
    "tests/multigres/integration/test_status.py",
    "tests/multigres/integration/test_toposerver_deletion.py",
    "tests/multigres/integration/test_cluster_deletion.py",
    "tests/runtime/integration/test_sample_controller_lease.py",
    "tests/local/test_control_plane.py",
    "tests/cli/commands/test_cluster_verbs_on_a_server.py",
    "tests/multigres/integration/test_spec_removal.py",
    "tests/cli/commands/local/test_up.py",
    "tests/runtime/integration/test_sample_controller_kinds.py",
    "tests/runtime/integration/test_restored_api_server.py",
    "tests/tenants/integration/test_tenant_survives_crashes.py",
    "tests/multigres/integration/test_autogrow.py",
    "tests/multigres/integration/test_operator.py",
    "tests/tenants/controllers/registry/test_reconciler_on_a_server.py",
    "tests/runtime/integration/test_sample_controller_crashes.py",
    "tests/tenants/integration/test_tenant_write_counts.py",
    "tests/multigres/integration/test_lost_metadata.py",
    "tests/multigres/integration/test_template_updates.py",
    "tests/runtime/integration/test_sample_controller_watches.py",
    "tests/multigres/integration/test_webhooks.py",
    "tests/admission/test_certificate_rotation_on_a_server.py",
    "tests/multigres/integration/test_pod_problems.py",
    "tests/cli/commands/test_verbs_on_a_server.py",
    "tests/tenants/integration/test_webhooks.py",
    "tests/testkit/fake_data_plane/test_data_plane.py",
    "tests/tenants/integration/test_samples.py",
    "tests/multigres/integration/test_backups.py",
    "tests/multigres/integration/test_deletion_protection.py",
    "tests/multigres/integration/test_samples.py",
    "tests/multigres/integration/test_ownerless_objects.py",
    "tests/gotemplate/test_conformance.py",
    "tests/docgen/test_vocabulary.py",
)

# Files that must not run at the same time, by the state that they share.
ALONE_WITH: dict[str, tuple[str, ...]] = {
    # Together they need one control plane of their own.
    "an installation": (
        "tests/install/test_installation.py",
        "tests/install/test_as_installed.py",
        "tests/install/test_namespaced.py",
    ),
}

_POSITIONS = {file: position for position, file in enumerate(LONGEST)}
_SHARED_STATE = {file: state for state, files in ALONE_WITH.items() for file in files}


def grouped(items: Sequence[pytest.Item]) -> list[list[int]]:
    """The positions of the tests that run together, the longest group first. Pure files come last, because they are
    short and fill the remaining time evenly."""
    groups: dict[str, list[int]] = {}
    for position, item in enumerate(items):
        file = _file(item.nodeid)
        groups.setdefault(_SHARED_STATE.get(file, file), []).append(position)
    return sorted(groups.values(), key=lambda group: _urgency([items[position] for position in group]))


def _urgency(items: Sequence[pytest.Item]) -> tuple[int, bool]:
    position = min(_POSITIONS.get(_file(item.nodeid), len(_POSITIONS)) for item in items)
    has_server = any("control_plane" in getattr(item, "fixturenames", ()) for item in items)
    return position, not has_server


def _file(nodeid: str) -> str:
    return nodeid.split("::", 1)[0]
