"""Which processes are leftovers of our containers."""

from __future__ import annotations

import pytest

from steward.local.containers.machine.leftovers import is_leftover

COMMANDS = {
    "our shim": (
        [
            "/packages/usr/bin/containerd-shim-runc-v2",
            "-address",
            "/run/steward-local/node-1/containerd.sock",
        ],
        True,
    ),
    "our runc": (["/usr/sbin/runc", "--root", "/run/steward-local/node-1/runc/k8s.io", "create"], True),
    "a shim of the system": (
        ["/usr/bin/containerd-shim-runc-v2", "-address", "/run/containerd/containerd.sock"],
        False,
    ),
    "an editor with one of our files": (["/usr/bin/vi", "/run/steward-local/machine.json"], False),
    "a similar directory": (["runc", "--root", "/run/steward-local-2/runc"], False),
    "a kernel thread": ([""], False),
}


@pytest.mark.parametrize(("arguments", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_only_runtimes_with_our_run_directory_are_leftovers(arguments: list[str], expected: bool) -> None:
    assert is_leftover(arguments) is expected
