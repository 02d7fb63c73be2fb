"""Rendering of a row and a template to objects."""

import base64
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError, TooLarge
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import RenderedTenant, TenantIdentity, render
from steward.tenants.rendering.secret_payload import SecretPayload, payload_key, with_payload
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import resource, template

IDENTITY = TenantIdentity("acme-web", "shop")
TRACKING = {
    "kubernetes-tenants.org/tenant": "acme-web",
    "kubernetes-tenants.org/tenant-namespace": "shop",
}
POLICY = "kubernetes-tenants.org/deletion-policy"


def rendered(uid: str = "acme", columns: dict[str, str] | None = None, **lists: Any) -> RenderedTenant:
    spec = msgspec.convert(template(**{"configMaps": [], **lists})["spec"], TenantTemplateSpec)
    row = Row(uid, "https://acme.example", "1", columns or {})
    return render(prepare_template(spec), row_variables(row, "prod", "web"), IDENTITY)


def one(body: dict[str, Any], columns: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    found = rendered(columns=columns, manifests=[resource("it", spec=body, **fields)])
    return found.lists["manifests"][0].spec


def deployment(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}


def error(columns: dict[str, str] | None = None, **fields: Any) -> RenderError:
    with pytest.raises(RenderError) as caught:
        rendered(columns=columns, configMaps=[resource(**fields)])
    return caught.value


def test_the_rendered_object_is_what_is_applied() -> None:
    [made] = rendered(configMaps=[resource(readyWhen="{{ .x }}")]).lists["configMaps"]
    assert msgspec.to_builtins(made) == {
        "id": "config",
        "readyWhen": "{{ .x }}",
        "spec": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "data": {"host": "acme.example"},
            "metadata": {
                "name": "acme-config",
                "namespace": "shop",
                "labels": TRACKING,
                "annotations": {POLICY: "Delete"},
            },
        },
    }


def test_metadata_of_the_body_is_kept_and_templates_override_it() -> None:
    body = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "labels": {"a": "body", "b": "{{ .uid }}"},
            "annotations": {"nginx/x": "{{ .host }}", "y": "body"},
            "finalizers": ["f"],
        },
    }
    made = one(body, labelsTemplate={"a": "{{ upper .uid }}"}, annotationsTemplate={"y": "template"})[
        "metadata"
    ]
    assert made["labels"] == {"a": "ACME", "b": "acme", **TRACKING}
    assert made["annotations"] == {"nginx/x": "acme.example", "y": "template", POLICY: "Delete"}
    assert made["finalizers"] == ["f"]


def test_a_template_cannot_override_the_tracking_labels() -> None:
    made = one(deployment(), labelsTemplate={"kubernetes-tenants.org/tenant": "other"})
    assert made["metadata"]["labels"] == TRACKING


def test_policies_are_written_to_annotations() -> None:
    made = one(deployment(), deletionPolicy="Retain", creationPolicy="Once")
    assert made["metadata"]["annotations"] == {
        POLICY: "Retain",
        "kubernetes-tenants.org/created-once": "true",
    }


@pytest.mark.parametrize(
    ("source", "columns", "value"),
    [
        ("{{ int .n }}", {"n": "3"}, 3),
        ("{{ .n | int }}", {"n": "x"}, 0),
        ('{{ int (default "2" .n) }}', {}, 2),
        ("{{ float .n }}", {"n": "0.5"}, 0.5),
        ("{{ bool .n }}", {"n": "yes"}, True),
        ("{{ add (int .n) 1 }}", {"n": "3"}, "4"),
        ("{{ .n }}", {"n": "3"}, "3"),
        ("n={{ int .n }}", {"n": "3"}, "n=3"),
    ],
)
def test_typed_values_reach_numeric_and_boolean_fields(
    source: str, columns: dict[str, str], value: Any
) -> None:
    made = one(deployment(replicas=source), columns)["spec"]["replicas"]
    assert made == value
    assert type(made) is type(value)


@pytest.mark.parametrize(
    "body",
    [
        {"apiVersion": "v1", "kind": "ConfigMap", "data": {"n": "{{ int .n }}"}},
        deployment(selector={"matchLabels": {"n": "{{ int .n }}"}}),
        deployment(template={"spec": {"nodeSelector": {"n": "{{ int .n }}"}}}),
        deployment(template={"metadata": {"labels": {"n": "{{ int .n }}"}}}),
        deployment(template={"metadata": {"annotations": {"n": "{{ int .n }}"}}}),
    ],
)
def test_some_fields_are_always_text(body: dict[str, Any]) -> None:
    def leaf(value: Any) -> Any:
        while isinstance(value, dict):
            value = value[
                next(
                    name
                    for name in value
                    if name in ("n", "data", "spec", "selector", "template")
                    or name in ("matchLabels", "nodeSelector", "metadata", "labels", "annotations")
                )
            ]
        return value

    made = one(body, {"n": "3"})
    assert leaf(made["data"] if "data" in made else made["spec"]) == "3"


@pytest.mark.parametrize("text", ["{{ .registryId }}", "{{", "}}{{ fail }}", '{{ printf "%s" .uid }}'])
def test_templates_in_a_row_are_text(text: str) -> None:
    made = one(
        deployment(a="{{ .evil }}", b=["{{ .evil }}"], c=[["x{{ .evil }}"]]),
        {"evil": text},
        annotationsTemplate={"a": "{{ .evil }}"},
    )
    assert made["spec"] == {"a": text, "b": [text], "c": [[f"x{text}"]]}
    assert made["metadata"]["annotations"]["a"] == text


@settings(deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=30))
def test_any_value_of_a_row_is_rendered_unchanged(text: str) -> None:
    assert one(deployment(value="<{{ .v }}>"), {"v": text})["spec"]["value"] == f"<{text}>"


@pytest.mark.parametrize(
    ("when", "exists"),
    [
        ('{{ eq .plan "gold" }}', True),
        ("{{ bool .no }}", False),
        (" true\n", True),
        (" false\n", False),
        ("{{ if .empty }}true{{ end }}", False),
        ("{{ .empty }}", False),
        ("\n", False),
    ],
)
def test_a_resource_exists_only_where_when_is_true(when: str, exists: bool) -> None:
    found = rendered(columns={"plan": "gold", "no": "0", "empty": ""}, configMaps=[resource(when=when)])
    assert bool(found.resources()) is exists


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", "a number"),
        ("-0.5", "a number"),
        ("True", "true or false with capital letters"),
        ("yes", "another text"),
        ("true false", "another text"),
        ("s3cret", "another text"),
        ("true\ntrue", "a text of several lines"),
    ],
)
def test_a_when_that_is_neither_true_nor_false_is_an_error_without_its_text(value: str, kind: str) -> None:
    with pytest.raises(RenderError) as caught:
        rendered(columns={"flag": value}, configMaps=[resource(), resource("extra", when="{{ .flag }}")])

    assert (caught.value.resource, caught.value.field) == ("extra", "when")
    assert caught.value.text.startswith(f"renders {kind}, and neither true nor false: compare it")
    assert "s3cret" not in str(caught.value)


def test_a_resource_whose_when_is_false_is_not_rendered() -> None:
    assert rendered(configMaps=[resource(when="false", nameTemplate="{{ .missing }}")]).resources() == []


def test_a_target_namespace_is_a_template_and_a_namespace_is_in_none() -> None:
    assert one(deployment(), targetNamespace="{{ .uid }}-ns")["metadata"]["namespace"] == "acme-ns"
    assert "namespace" not in one({"apiVersion": "v1", "kind": "Namespace"})["metadata"]


def test_the_payload_of_a_secret_is_not_in_the_spec() -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "stringData": {"password": "{{ .password }}"},
        "data": {"old": "b2xk"},
    }
    found = rendered(columns={"password": "s3cret-Ü"}, secrets=[resource("db", spec=body)])
    [made] = found.lists["secrets"]
    assert made.spec.keys() == {"apiVersion", "kind", "type", "metadata"}
    assert "s3cret" not in str(found)
    back = with_payload(made.spec, "db", SecretPayload.from_data(found.payload.data))
    assert base64.b64decode(back["data"]["password"]).decode() == "s3cret-Ü"
    assert back["data"]["old"] == "b2xk"


def test_no_secret_may_have_the_name_of_the_values_secret() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret"}
    found = error(spec=secret, nameTemplate="acme-web-values")
    assert "choose another name" in str(found)


def test_a_changed_password_is_a_changed_digest() -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "stringData": {"p": "{{ .p }}"}}
    digests = [rendered(columns={"p": p}, secrets=[resource(spec=body)]).payload.digest for p in "aab"]
    assert digests[0] == digests[1] != digests[2]


def test_any_id_has_a_key_in_the_payload() -> None:
    assert payload_key("db-1.x") == "db-1.x"
    assert payload_key("a/b") != payload_key("a b")
    assert len(payload_key("ü" * 200)) <= 253


def test_a_missing_variable_is_reported_with_its_position_and_the_cure() -> None:
    found = error(nameTemplate="x-{{ .uidd }}")
    assert (found.resource, found.field, found.line, found.column) == ("config", "nameTemplate", 1, 5)
    assert found.text.startswith(
        'template: nameTemplate:1:5: executing "nameTemplate" at <.uidd>: map has no entry for key "uidd"'
    )
    assert "did you mean uid?" in found.text
    assert "extraValueMappings" in found.text


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"nameTemplate": "{{ .uid"}, "nameTemplate", "unclosed action"),
        ({"nameTemplate": '{{ env "HOME" }}'}, "nameTemplate", 'function "env" not defined'),
        ({"nameTemplate": "{{ now }}"}, "nameTemplate", "profile full"),
        ({"nameTemplate": '{{ "" }}'}, "nameTemplate", "gives no name"),
        ({"nameTemplate": '{{ repeat 64 "x" }}'}, "nameTemplate", "use trunc63"),
        ({"targetNamespace": '{{ "" }}'}, "targetNamespace", "renders to nothing"),
        ({"labelsTemplate": {"a": "{{ .x }}"}}, "labelsTemplate.a", "no entry for key"),
        ({"when": "{{ .x }}"}, "when", "no entry for key"),
        ({"spec": {"kind": "ConfigMap"}}, "spec.apiVersion", "is missing"),
        (
            {"spec": {"apiVersion": "v1", "kind": "X", "a": [{"b": "{{ fail `no` }}"}]}},
            "spec.a[0].b",
            "error calling fail: no",
        ),
        ({"spec": {"apiVersion": "v1", "kind": "X", "a": '{{ b64dec "/w==" }}'}}, "spec.a", "not UTF-8"),
        ({"spec": {"apiVersion": "v1", "kind": "X", "metadata": "x"}}, "spec.metadata", "is no map"),
        (
            {"spec": {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": 1}}},
            "spec.stringData.a",
            "no text",
        ),
    ],
)
def test_an_error_names_resource_and_field(fields: dict[str, Any], field: str, message: str) -> None:
    found = error(**fields)
    assert found.resource == "config"
    assert found.field == field
    assert message in found.text


def test_a_constant_name_may_be_longer() -> None:
    name = "x" * 70
    body = {"apiVersion": "v1", "kind": "X", "metadata": {"name": name}}
    assert rendered(configMaps=[{"id": "a", "spec": body}]).resources()[0].spec["metadata"]["name"] == name


def test_objects_that_are_too_large_for_the_api_server_are_an_error() -> None:
    found = error({"big": "x" * 1_000_001}, annotationsTemplate={"a": "{{ .big }}"})
    assert "shorten the row's values" in found.text
    assert len(str(found)) < 500


def test_rendering_stops_as_soon_as_the_texts_are_too_large() -> None:
    data = {f"k{number}": '{{ repeat 400000 "x" }}' for number in range(200)}
    tracemalloc.start()
    try:
        found = error(spec={"apiVersion": "v1", "kind": "ConfigMap", "data": data})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(found, TooLarge)
    assert (found.resource, found.field) == ("config", "spec.data.k2")
    assert peak < 40_000_000


@pytest.mark.parametrize(("texts", "turns", "is_too_much"), [(10, 20_000, False), (1000, 20_000, True)])
def test_each_text_has_a_lower_limit_where_there_are_many(texts: int, turns: int, is_too_much: bool) -> None:
    data = {f"k{number}": "{{ .uid }}" for number in range(texts)}
    data["k0"] = f"{{{{ range until {turns} }}}}{{{{ end }}}}"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": data}
    if is_too_much:
        assert "steps that one rendering may take" in error(spec=body).text
    else:
        assert one(body)["data"]["k1"] == "acme"


def test_lists_keep_their_order_and_names() -> None:
    found = rendered(services=[resource("s")], configMaps=[resource("b"), resource("a")])
    assert {name: [made.id for made in made_list] for name, made_list in found.lists.items()} == {
        "services": ["s"],
        "configMaps": ["b", "a"],
    }


def test_parts_without_a_template_are_shared_between_rows() -> None:
    body = deployment(fixed={"deep": [1, 2]}, replicas="{{ int .n }}")
    spec = msgspec.convert(template(manifests=[resource("d", spec=body)])["spec"], TenantTemplateSpec)
    prepared = prepare_template(spec)
    first, second = (
        render(prepared, {"uid": uid, "n": "1", "host": ""}, IDENTITY).lists["manifests"][0].spec
        for uid in "ab"
    )
    assert first["spec"]["fixed"] is second["spec"]["fixed"]


@pytest.mark.parametrize("value", ["../kube-system", "a/b", "%00", "..", "."])
@pytest.mark.parametrize("field", ["nameTemplate", "targetNamespace"])
def test_a_name_that_no_object_can_have_is_an_error(field: str, value: str) -> None:
    """The API server could not even look for such an object, and the Tenant could never be deleted."""
    found = error({"x": value}, **{field: "{{ .x }}"})
    assert found.field == field
    assert f"gives {value!r}, which no" in str(found)
