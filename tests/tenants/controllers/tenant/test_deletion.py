from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.controllers.common.document import TenantDocument
from steward.tenants.controllers.tenant.deletion import (
    DeletionProgress,
    deletion_progress,
    is_forced,
    is_remaining,
    levels_to_delete,
)
from steward.tenants.controllers.tenant.prune import PruneResult
from steward.tenants.objects.orphans import AppliedRef
from tests.tenants.support.fleet import config_map, resource


def document(
    spec: dict[str, Any], status: dict[str, Any] | None = None, **annotations: str
) -> TenantDocument:
    whole = {"uid": "acme", "templateRef": "web", "templateGeneration": 1, **spec}
    meta = ObjectMeta(name="acme", namespace="saas", uid="u", annotations=annotations)
    return TenantDocument(
        meta, msgspec.convert(whole, TenantSpec), msgspec.convert(status or {}, TenantStatus)
    )


def names(found: TenantDocument) -> list[list[str]]:
    return [[each.name for each in level] for level in levels_to_delete(found)]


CHAIN = {
    "configMaps": [
        resource("a", config_map("first")),
        resource("b", config_map("second"), dependIds=["a"]),
        resource("c", config_map("third"), dependIds=["b"]),
    ]
}


def test_dependents_are_deleted_before_their_dependencies() -> None:
    assert names(document(CHAIN)) == [[], ["third"], ["second"], ["first"]]


def test_objects_that_were_removed_from_the_template_are_deleted_first() -> None:
    status = {"appliedResources": ["ConfigMap/saas/old@gone", "ConfigMap/saas/first@a"]}
    assert names(document(CHAIN, status)) == [["old"], ["third"], ["second"], ["first"]]


def test_an_object_that_moved_is_deleted_in_both_namespaces() -> None:
    status = {"appliedResources": ["ConfigMap/elsewhere/first@a"]}
    levels = levels_to_delete(document(CHAIN, status))
    assert sorted(each.namespace for each in levels[-1]) == ["elsewhere", "saas"]


def test_an_unrendered_spec_names_no_objects_and_a_cycle_is_one_level() -> None:
    found = document({"configMaps": [resource("a", config_map("{{ .uid }}"))]})
    assert names(msgspec.structs.replace(found, spec=_unrendered(found.spec))) == [[], []]
    cycle = {
        "configMaps": [
            resource("a", config_map("a"), dependIds=["b"]),
            resource("b", config_map("b"), dependIds=["a"]),
        ]
    }
    assert names(document(cycle)) == [[], ["a", "b"]]


def _unrendered(spec: TenantSpec) -> TenantSpec:
    return msgspec.structs.replace(spec, template_generation=msgspec.UNSET)


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("True", True), ("false", False), ("", False)]
)
def test_only_the_value_true_forces(value: str, expected: bool) -> None:
    assert is_forced(document({}, None, **{"kubernetes-tenants.org/force-delete": value})) is expected


def test_the_message_names_remaining_objects_and_the_force_annotation() -> None:
    remaining = AppliedRef("v1", "ConfigMap", "other", "it", "x")
    assert "ConfigMap other/it" in DeletionProgress((remaining,)).message
    failed = DeletionProgress((remaining,), ("ConfigMap other/it: denied",)).message
    assert failed.startswith("ConfigMap other/it: denied")
    assert "force-delete" in failed


RECORD = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "saas", "name": "first", "id": "a"}


@pytest.mark.parametrize(
    ("status", "is_hidden", "expected"),
    [
        ({}, True, False),
        ({"applied": [RECORD], "appliedResources": ["ConfigMap/saas/first@a"]}, True, False),
        ({"applied": [RECORD | {"uid": "u-1"}]}, True, True),
        ({"appliedResources": ["ConfigMap/saas/first@a"]}, True, True),
        ({}, False, True),
    ],
    ids=[
        "only-in-spec",
        "announced-and-refused",
        "applied-and-hidden-since",
        "former-operators",
        "undeletable",
    ],
)
def test_an_unreadable_object_blocks_the_deletion_only_if_it_was_applied(
    status: dict[str, Any], is_hidden: bool, expected: bool
) -> None:
    denied = PruneResult(
        AppliedRef("v1", "ConfigMap", "saas", "first", "a"), is_gone=False, problem="no", is_hidden=is_hidden
    )
    assert is_remaining(denied, document(CHAIN, status)) is expected


GONE_LATER = PruneResult(AppliedRef("v1", "ConfigMap", "saas", "first", "a"), is_gone=False)
FAILED = GONE_LATER._replace(problem="may not delete configmaps")
PROTECTED = GONE_LATER._replace(problem="is protected", is_denied=True)


@pytest.mark.parametrize(
    ("remaining", "expected"),
    [
        ([PROTECTED], True),
        ([PROTECTED, GONE_LATER], True),
        ([PROTECTED, FAILED], False),
        ([GONE_LATER], False),
    ],
    ids=["protected", "one-is-terminating", "one-has-failed", "all-are-terminating"],
)
def test_a_deletion_waits_for_permission_only_if_nothing_has_failed(
    remaining: list[PruneResult], expected: bool
) -> None:
    assert deletion_progress(remaining).is_denied is expected
