"""The view of a Tenant."""

from dataclasses import replace
from typing import Any

from steward.cli.object_events import read_event
from steward.kube.objects.kinds import SECRET, Key, Manifest, ref_of
from steward.page.models.tenant import resource_ref, tenant_resources, tenant_sections
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

ACME = Key("shop", "acme-web")


def sections(tenant: Manifest, *others: Manifest) -> dict[str, Any]:
    found = tenant_sections(snapshot_of(sample.registry(), tenant, *others), ACME, tenant)
    assert found is not None
    return found


def test_there_is_no_view_of_a_tenant_that_is_gone() -> None:
    assert tenant_sections(snapshot_of(sample.registry()), ACME, sample.tenant("acme")) is None


def test_objects_are_in_the_order_of_their_dependencies() -> None:
    levels = sections(sample.tenant("acme"), sample.deployment("acme-web"))["levels"]
    assert [[each.id for each in level] for level in levels] == [["settings"], ["app"]]
    assert levels[1][0].depends_on == ["settings"]


def test_a_circle_of_dependencies_is_shown_in_one_level() -> None:
    tenant = sample.tenant("acme")
    tenant["spec"]["configMaps"][0]["dependIds"] = ["app"]
    assert [len(level) for level in sections(tenant)["levels"]] == [2]


def test_an_object_that_waits_says_why() -> None:
    levels = sections(sample.tenant("acme"), sample.deployment("acme-web", ready=1))["levels"]
    assert (levels[1][0].health, levels[1][0].text != "ready") == ("waiting", True)


def test_an_object_that_is_not_applied_yet_waits() -> None:
    tenant = sample.tenant("acme")
    tenant["status"]["applied"] = []
    assert sections(tenant)["levels"][0][0].text == "not applied yet"


def test_a_skipped_object_says_so() -> None:
    tenant = sample.tenant("acme")
    tenant["status"]["skippedResourceIds"] = ["settings"]
    assert sections(tenant)["levels"][0][0].text == "skipped, because a dependency has failed"


def not_ready(tenant: Manifest) -> Manifest:
    tenant["status"]["conditions"] = [sample.condition("Ready", "False", "app is not ready")]
    return tenant


def test_an_applied_config_map_of_a_tenant_that_is_not_ready_is_ready() -> None:
    assert sections(not_ready(sample.tenant("acme")))["levels"][0][0].health == "ready"


def test_an_applied_object_with_a_rule_of_its_own_is_not_called_ready() -> None:
    tenant = not_ready(sample.tenant("acme"))
    tenant["spec"]["configMaps"][0]["readyWhen"] = "{{ .object.data.done }}"
    found = sections(tenant)["levels"][0][0]
    assert (found.health, found.text) == ("waiting", "applied")


def test_policies_are_shown_where_they_are_not_the_default() -> None:
    levels = sections(sample.tenant("acme"))["levels"]
    assert [each.policies for level in levels for each in level] == [[], ["deletionPolicy: Retain"]]


def test_a_secret_cannot_be_compared() -> None:
    tenant = sample.tenant("acme")
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "acme-password"}}
    tenant["spec"]["secrets"] = [{"id": "password", "spec": body}]
    (secret,) = [each for level in sections(tenant)["levels"] for each in level if each.id == "password"]
    assert not secret.is_comparable
    assert resource_ref(tenant_resources(tenant)["password"], tenant).kind == SECRET


def test_the_head_links_to_row_template_and_registry() -> None:
    head = sections(sample.tenant("acme"))["head"]
    assert (head.uid, head.template_generation) == ("acme", 3)
    assert head.template.href == "/registry/shop/customers?template=web"
    assert head.registry.href == "/registry/shop/customers"


def test_drift_and_kept_objects_come_from_events() -> None:
    tenant = sample.tenant("acme")
    name = ref_of(tenant).key.name
    events = [
        read_event(sample.event("a", ("Tenant", name), "DriftReverted", "spec.replicas was 5")),
        read_event(sample.event("b", ("Tenant", name), "ResourceRetained", "ConfigMap x is kept")),
    ]
    snapshot = replace(snapshot_of(sample.registry(), tenant), events=lambda namespace: events)
    found = tenant_sections(snapshot, ACME, tenant)
    assert found is not None
    assert [moment.message for moment in found["drift"]] == ["spec.replicas was 5"]
    assert [moment.message for moment in found["kept"]] == ["ConfigMap x is kept"]
