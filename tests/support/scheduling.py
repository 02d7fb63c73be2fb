"""Groups tests for the workers of a run (`pytest --workers 8`): file by file, the longest first.

Tests of one file share operators and namespaces, so a file runs in one worker. Files whose tests change cluster-wide
state are listed in ALONE_WITH under that state: they run in one worker, one after the other.
"""

from collections.abc import Sequence

import pytest

# Files that start first, the longest of all: a long one that starts last would run alone. Only a hint, from the
# seconds of a whole run (`--durations`).
LONGEST: tuple[str, ...] = (
    "tests/cli/test_demo.py",
    "tests/install/test_installation.py",
    "tests/install/test_as_installed.py",
    "tests/install/test_namespaced.py",
    "tests/multigres/integration/test_rollout.py",
    "tests/tenants/integration/test_database_failures.py",
    "tests/multigres/integration/test_topology.py",
    "tests/multigres/integration/test_operator_update.py",
    "tests/runtime/integration/test_restored_api_server.py",
    "tests/multigres/integration/test_servers.py",
    "tests/multigres/integration/test_samples.py",
    "tests/runtime/integration/test_sample_controller_lease.py",
    "tests/multigres/integration/test_volumes.py",
    "tests/multigres/integration/test_unregistered_deletion.py",
    "tests/multigres/integration/test_deletion_protection.py",
    "tests/cli/commands/local/test_up.py",
    "tests/multigres/integration/test_status.py",
    "tests/multigres/integration/test_backups.py",
    "tests/runtime/integration/test_sample_controller_kinds.py",
    "tests/multigres/integration/test_ownerless_objects.py",
    "tests/tenants/controllers/registry/test_reconciler_on_a_server.py",
    "tests/multigres/integration/test_restore.py",
    "tests/multigres/integration/test_cluster_deletion.py",
    "tests/cli/commands/test_verbs_on_a_server.py",
    "tests/multigres/integration/test_webhooks.py",
    "tests/local/test_control_plane.py",
    "tests/multigres/integration/test_lost_metadata.py",
    "tests/kube/apply/test_applier.py",
    "tests/tenants/integration/test_samples.py",
    "tests/admission/test_certificate_rotation_on_a_server.py",
    "tests/multigres/integration/test_pod_problems.py",
    "tests/multigres/integration/test_toposerver_deletion.py",
    "tests/testkit/fake_data_plane/test_data_plane.py",
    "tests/cli/commands/test_cluster_verbs_on_a_server.py",
    "tests/runtime/integration/test_sample_controller_watches.py",
    "tests/install/test_image.py",
    "tests/gotemplate/test_conformance.py",
    "tests/certificates/test_keeper.py",
    "tests/local/provisioner/test_process.py",
    "tests/runtime/integration/test_sample_controller_crashes.py",
    "tests/tenants/integration/test_partitions.py",
    "tests/tenants/integration/test_webhooks.py",
    "tests/tenants/sources/test_hostile_servers.py",
    "tests/certificates/test_keeper_clock_jumps.py",
    "tests/tenants/integration/test_deletion_guard.py",
    "tests/multigres/integration/test_go_takeover.py",
    "tests/tenants/integration/test_every_kind.py",
    "tests/local/images/test_python_root.py",
    "tests/multigres/integration/test_pause_and_hibernation.py",
    "tests/tenants/controllers/tenant/test_reconciler_on_a_server.py",
    "tests/tenants/integration/test_tenant_permissions.py",
    "tests/multigres/integration/test_spec_removal.py",
    "tests/tenants/integration/test_tenant_survives_crashes.py",
    "tests/multigres/integration/test_first_start.py",
    "tests/install/test_admission_policy.py",
    "tests/tenants/integration/test_tenant_write_counts.py",
    "tests/admission/test_server_on_a_server.py",
    "tests/tenants/integration/test_acceptance_list.py",
    "tests/support/workers/test_workers.py",
    "tests/multigres/integration/test_shared_template.py",
    "tests/multigres/integration/test_external_etcd.py",
    "tests/multigres/integration/test_repository_host.py",
    "tests/multigres/integration/test_repository_size.py",
    "tests/install/test_same_objects.py",
    "tests/multigres/integration/test_settings.py",
    "tests/gotemplate/test_hostile.py",
    "tests/etcd/test_client.py",
    "tests/tenants/integration/test_tenant_policies.py",
    "tests/tenants/integration/test_generated_values.py",
    "tests/gotemplate/test_fuzz.py",
    "tests/multigres/integration/test_every_kind.py",
    "tests/multigres/integration/test_crashes.py",
    "tests/install/test_sbom.py",
    "tests/multigres/integration/test_autogrow.py",
    "tests/multigres/integration/test_template_updates.py",
    "tests/multigres/integration/test_operator.py",
    "tests/multigres/test_webhooks_size.py",
    "tests/multigres/integration/test_node_drain.py",
    "tests/multigres/integration/test_gateway_tls.py",
    "tests/tenants/controllers/template/test_reconciler_on_a_server.py",
    "tests/tenants/integration/test_rollouts.py",
    "tests/multigres/integration/test_tracing.py",
    "tests/multigres/integration/test_objects.py",
    "tests/multigres/rollout/test_pods_and_volumes_fuzz.py",
    "tests/tenants/guard/test_decision_properties.py",
    "tests/page/live/test_first_lists.py",
    "tests/kube/apply/test_applier_absent.py",
    "tests/kube/cache/test_caches.py",
    "tests/tenants/sources/test_rows.py",
    "tests/support/test_kubectl_calls.py",
    "tests/cli/commands/test_lint_on_a_server.py",
    "tests/testkit/fake_data_plane/test_servers.py",
    "tests/local/kwok/test_configuration.py",
    "tests/tenants/integration/test_database_tls.py",
    "tests/tenants/api/test_kinds_on_a_server.py",
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
