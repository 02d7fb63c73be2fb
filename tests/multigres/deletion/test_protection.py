"""Which clusters may be deleted, and what users are told otherwise."""

from typing import Any

import pytest

from steward.multigres.deletion.protection import is_protected, protection_message

METADATA = {"namespace": "demo", "name": "orders"}


def manifest(spec: dict[str, Any] | None = None, **metadata: str) -> dict[str, Any]:
    return {"metadata": METADATA | metadata, "spec": spec}


@pytest.mark.parametrize(
    ("spec", "default", "expected"),
    [
        ({"deletionProtection": True}, False, True),
        ({"deletionProtection": False}, True, False),
        ({}, True, True),
        ({}, False, False),
        (None, True, True),
        (5, True, True),
        ("x", False, False),
    ],
    ids=["on", "off-against-the-default", "default-on", "default-off", "no-spec", "a-number", "a-text"],
)
def test_the_field_decides_before_the_flag(spec: Any, default: bool, expected: bool) -> None:
    assert is_protected(manifest(spec), default) is expected
    assert bool(protection_message(manifest(spec), default)) is expected


def test_the_message_names_the_cluster_the_cause_and_the_command() -> None:
    assert protection_message(manifest({"deletionProtection": True}), False) == (
        "MultigresCluster demo/orders is protected from deletion by spec.deletionProtection; "
        "to delete it nevertheless, run kubectl patch mgc orders -n demo --type merge "
        """-p '{"spec":{"deletionProtection":false}}', """
        "then delete it again"
    )
    assert "--protect-clusters" in protection_message(manifest({}), True)


def test_a_cluster_that_is_being_deleted_may_be_deleted_again() -> None:
    terminating = manifest({"deletionProtection": True}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert protection_message(terminating, True) == ""
