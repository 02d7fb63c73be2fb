from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.tenant import TenantSpec, TenantStatus
from steward.tenants.controllers.common.document import Document
from steward.tenants.controllers.tenant.deletion import Departure, departure_levels, is_forced, is_left
from steward.tenants.controllers.tenant.prune import Left
from steward.tenants.objects.orphans import Applied
from tests.tenants.support.fleet import config_map, resource


def document(spec: dict[str, Any], status: dict[str, Any] | None = None, **annotations: str) -> Document:
    whole = {"uid": "acme", "templateRef": "web", "templateGeneration": 1, **spec}
    meta = ObjectMeta(name="acme", namespace="saas", uid="u", annotations=annotations)
    return Document(meta, msgspec.convert(whole, TenantSpec), msgspec.convert(status or {}, TenantStatus))


def names(found: Document) -> list[list[str]]:
    return [[each.name for each in level] for level in departure_levels(found)]


CHAIN = {
    "configMaps": [
        resource("a", config_map("first")),
        resource("b", config_map("second"), dependIds=["a"]),
        resource("c", config_map("third"), dependIds=["b"]),
    ]
}


def test_dependents_go_before_what_they_depend_on() -> None:
    assert names(document(CHAIN)) == [[], ["third"], ["second"], ["first"]]


def test_what_the_template_forgot_goes_first() -> None:
    status = {"appliedResources": ["ConfigMap/saas/old@gone", "ConfigMap/saas/first@a"]}
    assert names(document(CHAIN, status)) == [["old"], ["third"], ["second"], ["first"]]


def test_an_object_that_moved_goes_from_both_places() -> None:
    status = {"appliedResources": ["ConfigMap/elsewhere/first@a"]}
    levels = departure_levels(document(CHAIN, status))
    assert sorted(each.namespace for each in levels[-1]) == ["elsewhere", "saas"]


def test_a_body_that_nobody_rendered_names_no_objects_and_a_circle_goes_at_once() -> None:
    found = document({"configMaps": [resource("a", config_map("{{ .uid }}"))]})
    assert names(msgspec.structs.replace(found, spec=_unrendered(found.spec))) == [[], []]
    circle = {
        "configMaps": [
            resource("a", config_map("a"), dependIds=["b"]),
            resource("b", config_map("b"), dependIds=["a"]),
        ]
    }
    assert names(document(circle)) == [[], ["a", "b"]]


def _unrendered(spec: TenantSpec) -> TenantSpec:
    return msgspec.structs.replace(spec, template_generation=msgspec.UNSET)


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("True", True), ("false", False), ("", False)]
)
def test_only_the_word_true_forces(value: str, expected: bool) -> None:
    assert is_forced(document({}, None, **{"kubernetes-tenants.org/force-delete": value})) is expected


def test_a_departure_names_what_it_waits_for_and_the_way_out() -> None:
    stray = Applied("v1", "ConfigMap", "other", "it", "x")
    assert "ConfigMap other/it" in Departure((stray,)).message
    failed = Departure((stray,), ("ConfigMap other/it: denied",)).message
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
def test_what_may_not_be_looked_at_keeps_a_tenant_only_if_it_was_applied(
    status: dict[str, Any], is_hidden: bool, expected: bool
) -> None:
    denied = Left(
        Applied("v1", "ConfigMap", "saas", "first", "a"), is_gone=False, problem="no", is_hidden=is_hidden
    )
    assert is_left(denied, document(CHAIN, status)) is expected
