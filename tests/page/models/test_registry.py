"""The view of a TenantRegistry."""

from typing import Any

import msgspec

from steward.kube.objects.kinds import Manifest
from steward.page.models.addresses import parse_address
from steward.page.models.registry import WINDOW, registry_sections
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of


def sections(*manifests: Manifest, query: str = "") -> dict[str, Any]:
    address = parse_address(f"/registry/shop/customers{query}")
    assert address is not None
    found = registry_sections(snapshot_of(*manifests), address)
    assert found is not None
    return found


def test_there_is_no_view_of_a_missing_registry() -> None:
    address = parse_address("/registry/shop/customers")
    assert address is not None
    assert registry_sections(snapshot_of(sample.cluster()), address) is None


def test_the_source_is_named_without_credentials() -> None:
    registry = sample.registry()
    registry["spec"]["source"]["postgresql"] |= {
        "username": "app",
        "passwordRef": {"name": "crm", "key": "pw"},
    }
    found = sections(registry)
    assert found["source"].place == "crm-db.internal:5432 · crm · customers"
    text = msgspec.json.encode(found["source"])
    assert b"passwordRef" not in text
    assert b"app" not in text


def test_the_guard_shows_its_limits_and_the_hold() -> None:
    guard = sections(sample.held_registry())["guard"]
    assert (guard.max_percent, guard.allow_empty, guard.grace_period) == (30, False, "0s")
    assert guard.held is not None


def test_tenants_are_shown_by_row_and_template() -> None:
    window = sections(*sample.sample())["tenants"]
    assert window.templates == ["db", "web"]
    assert [row.uid for row in window.rows[:2]] == ["acme", "birch"]
    assert [cell.href for cell in window.rows[0].cells] == ["/tenant/shop/acme-db", "/tenant/shop/acme-web"]


def test_a_row_without_a_tenant_of_a_template_has_an_empty_cell() -> None:
    templates = (sample.template("db"), sample.template("web"))
    window = sections(sample.registry(), *templates, sample.tenant("acme"))["tenants"]
    assert window.rows[0].cells[0] is None


def test_rows_with_problems_are_first() -> None:
    window = sections(*sample.sample(), sample.deployment("kite-web", ready=0))["tenants"]
    assert window.rows[0].uid == "kite"


def test_filters_select_by_uid_template_and_state() -> None:
    objects = [*sample.sample(), sample.deployment("kite-web", ready=0)]
    assert [row.uid for row in sections(*objects, query="?q=AC")["tenants"].rows] == ["acme"]
    assert sections(*objects, query="?template=web")["tenants"].templates == ["web"]
    assert [row.uid for row in sections(*objects, query="?state=waiting")["tenants"].rows] == ["kite"]
    assert sections(*objects, query="?q=nothing")["tenants"].matching == 0


def test_a_window_of_many_rows_is_shown() -> None:
    tenants = [sample.tenant(f"t{number:04}") for number in range(WINDOW * 2 + 5)]
    objects = [sample.registry(), sample.template("web"), *tenants]
    last = sections(*objects, query=f"?offset={WINDOW * 2}")["tenants"]
    assert (last.matching, last.offset, len(last.rows)) == (WINDOW * 2 + 5, WINDOW * 2, 5)
    assert sections(*objects, query="?offset=9999")["tenants"].offset == WINDOW * 2


def test_templates_of_other_registries_are_left_out() -> None:
    found = sections(sample.registry(), sample.template("web"), sample.template("x", registry="other"))
    assert [line.object.name for line in found["templates"]] == ["web"]


def test_a_tenant_that_is_not_ready_says_why() -> None:
    objects = [*sample.sample(), sample.deployment("kite-web", ready=1)]
    row = sections(*objects)["tenants"].rows[0]
    assert [cell.text for cell in row.cells] == ["", "1 of 2 replicas are available"]


def test_all_rows_are_listed_by_a_command() -> None:
    assert sections(sample.registry())["source"].rows_command == "steward rows customers -n shop"


def test_the_source_counts_inactive_rows_and_the_time_of_a_read() -> None:
    source = sections(sample.registry())["source"]
    assert (source.inactive_rows, source.read_took) == (3, "0.04s")


def test_an_operator_that_does_not_count_inactive_rows_is_shown_without_them() -> None:
    registry = sample.registry()
    del registry["status"]["inactiveRows"]
    assert sections(registry)["source"].inactive_rows is None
