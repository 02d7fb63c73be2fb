"""One object for each entry of a list in a column, whatever a row writes into that column."""

import json
from contextlib import nullcontext
from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.rendering.expansion import MAX_DEPENDENCIES, MAX_OBJECTS
from steward.tenants.rendering.for_each import MAX_ITEMS, Item, item_id, parse_items
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import RenderedTenant, TenantIdentity, render
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import resource, template

DATA = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "{{ .item.host }}", "n": "{{ .item.n }}"}}
NAMED = {"forEach": "{{ .domains }}", "nameTemplate": "{{ .uid }}-{{ .itemKey }}"}
DOMAINS = [{"name": "a", "host": "a.example.com", "n": 1}, {"name": "b", "host": "b.example.com", "n": 2.5}]


def rendered(domains: str, *others: dict[str, Any], **fields: Any) -> RenderedTenant:
    resources = [resource("domains", **{"spec": DATA, **NAMED, **fields}), *others]
    typed = msgspec.convert(template(configMaps=resources)["spec"], TenantTemplateSpec)
    variables = row_variables(Row("acme", "https://acme.example", "1", {"domains": domains}), "prod", "web")
    return render(prepare_template(typed), variables, TenantIdentity("acme-web", "shop"))


def names(tenant: RenderedTenant) -> dict[str, str]:
    return {each.id: each.spec["metadata"]["name"] for each in tenant.resources()}


def test_there_is_an_object_for_each_entry() -> None:
    tenant = rendered(json.dumps(DOMAINS))
    assert names(tenant) == {"domains[a]": "acme-a", "domains[b]": "acme-b"}
    assert [each.spec["data"] for each in tenant.resources()] == [
        {"host": "a.example.com", "n": "1"},
        {"host": "b.example.com", "n": "2.5"},
    ]
    assert all(each.for_each is msgspec.UNSET for each in tenant.resources()), "the Tenant holds no template"


def test_another_order_makes_the_same_objects() -> None:
    assert names(rendered(json.dumps(DOMAINS[::-1]))) == names(rendered(json.dumps(DOMAINS)))


@pytest.mark.parametrize("blank", ["", "  ", "[]"])
def test_an_empty_column_makes_no_object(blank: str) -> None:
    assert rendered(blank).resources() == []


def test_when_is_decided_for_each_entry() -> None:
    only_b = '{{ eq .itemKey "b" }}'
    assert names(rendered(json.dumps(DOMAINS), when=only_b)) == {"domains[b]": "acme-b"}


def test_a_dependency_is_one_on_all_entries() -> None:
    other = resource("other", dependIds=["domains", "more"], nameTemplate="other")
    more = resource("more", nameTemplate="more")
    tenant = rendered(json.dumps(DOMAINS), other, more)
    [found] = [each for each in tenant.resources() if each.id == "other"]
    assert found.depend_ids == ["domains[a]", "domains[b]", "more"]


def test_the_variables_of_an_entry_end_with_it() -> None:
    later = resource("later", nameTemplate="{{ .itemKey }}")
    with pytest.raises(RenderError) as raised:
        rendered(json.dumps(DOMAINS), later)
    assert raised.value.resource == "later"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b", "renders a text that is no JSON"),
        ('"a"', "renders JSON that is no list"),
        ('{"a": 1}', "renders JSON that is no list"),
        ("[" * 100_000, "renders a text that is no JSON"),
        (json.dumps([str(number) for number in range(MAX_ITEMS + 1)]), f"may have {MAX_ITEMS}"),
        ('["a", "a"]', "entries 1 and 2 of the list have the same key"),
        ('["a", {"name": "a"}]', "entries 1 and 2 of the list have the same key"),
        ('["a", null]', "entry 2 of the list has no key"),
        ('["a", ""]', "entry 2 of the list has no key"),
        ("[true]", "entry 1 of the list has no key"),
        ("[[1]]", "entry 1 of the list has no key"),
        ('[{"host": "secret"}]', "entry 1 of the list has no key"),
        ("[1e999]", "renders a text that is no JSON"),
    ],
)
def test_another_text_is_an_error_without_the_values_of_the_row(text: str, words: str) -> None:
    with pytest.raises(RenderError) as raised:
        parse_items(text)
    assert raised.value.field == "forEach"
    assert words in raised.value.text
    assert "secret" not in raised.value.text


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('["a", 7, 1.5]', ["a", "7", "1.5"]),
        ('[{"id": 3, "key": "k"}, {"name": "", "id": "i"}]', ["k", "i"]),
    ],
)
def test_keys_of_entries(text: str, keys: list[str]) -> None:
    assert [item.key for item in parse_items(text)] == keys


def test_ids_are_readable_bounded_and_differ() -> None:
    assert item_id("d", Item("www.example.com", None)) == "d[www.example.com]"
    unusual = [item_id("d", Item(key, None)) for key in ("a b", "a/b", "a@b", "x" * 64, "x" * 65, "é")]
    assert len(set(unusual)) == len(unusual)
    assert all(len(each) < 70 and each.isascii() and not {"/", "@", " "} & set(each) for each in unusual)


@pytest.mark.parametrize(
    ("key", "expected"), [("a/b", "d[a-b-c14cddc033]"), ("x" * 64, f"d[{'x' * 40}-7ce100971f]")]
)
def test_ids_are_the_same_in_every_version(key: str, expected: str) -> None:
    """The status of a Tenant has them: another id would be another object."""
    assert item_id("d", Item(key, None)) == expected


@pytest.mark.parametrize(("count", "is_error"), [(50, False), (51, True)])
def test_a_list_has_at_most_fifty_entries(count: int, is_error: bool) -> None:
    text = json.dumps([f"e{number}" for number in range(count)])
    with pytest.raises(RenderError, match="may have 50") if is_error else nullcontext():
        assert len(parse_items(text)) == count


def test_entries_that_make_the_same_object_are_an_error() -> None:
    with pytest.raises(RenderError, match=r"makes ConfigMap.* more than once: use \.itemKey in nameTemplate"):
        rendered(
            '["a", "b"]', nameTemplate='{{ trunc 4 (print "same" .itemKey) }}', spec={**DATA, "data": {}}
        )


def test_a_declared_id_that_equals_that_of_an_entry_is_an_error() -> None:
    with pytest.raises(RenderError, match="more than once"):
        rendered('[{"name": "a", "host": "h", "n": 1}]', resource("domains[a]", nameTemplate="other"))


def test_a_tenant_has_a_limited_number_of_objects_and_dependencies() -> None:
    many = json.dumps([{"name": f"e{number}", "host": "h", "n": 1} for number in range(MAX_ITEMS)])
    lists = [
        resource(f"more-{n}", **{"spec": DATA, **NAMED, "nameTemplate": f"{n}-{{{{ .itemKey }}}}"})
        for n in range(10)
    ]
    with pytest.raises(RenderError, match=f"may have {MAX_OBJECTS}"):
        rendered(many, *lists)
    last = resource("last", dependIds=["domains", "more-0", "more-1"], nameTemplate="last")
    with pytest.raises(RenderError, match=f"may be {MAX_DEPENDENCIES}"):
        rendered(many, *lists[:2], last)
