"""Nothing that is secret leaves the cluster in a support bundle: every net is tried with canaries."""

import base64
import json
from typing import Any

import pytest

from steward.cli.operations.secret_scrubbing import MASK, scrub_object, secret_values, text_scrubber

CANARY = "c4nary-Zx91"


def scrubbed(manifest: dict[str, Any], *values: str) -> dict[str, Any]:
    found = scrub_object(manifest, text_scrubber(values))
    assert CANARY not in json.dumps(found), found
    return found


def deployment(**container: Any) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "app", "image": "web:1", **container}]}}
    return {
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "template": pod},
    }


def test_values_of_environment_variables_are_masked_and_their_names_and_references_stay() -> None:
    reference = {"secretKeyRef": {"name": "db", "key": "password"}}
    env = [{"name": "PLAIN", "value": CANARY}, {"name": "REFERENCE", "valueFrom": reference}]
    found = scrubbed(deployment(env=env))
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["env"] == [
        {"name": "PLAIN", "value": MASK},
        {"name": "REFERENCE", "valueFrom": reference},
    ]
    assert (container["image"], found["spec"]["replicas"]) == ("web:1", 2)


@pytest.mark.parametrize(
    "argument",
    [
        f"--password={CANARY}",
        f"app --db-password {CANARY} --verbose",
        f"token: {CANARY}",
        f"postgresql://app:{CANARY}@db:5432/orders",
        f"Authorization: Bearer {CANARY}.{CANARY}",
        f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----",
        f"eyJhbGciOiJ9.{CANARY}.{CANARY}",
        f'{{"apiKey": "{CANARY}", "user": "app"}}',
        f"AWS_SECRET_ACCESS_KEY={CANARY}",
    ],
)
def test_texts_are_masked_by_the_shapes_of_secrets(argument: str) -> None:
    text = text_scrubber()(argument)
    assert CANARY not in text
    assert MASK in text


def test_the_value_of_a_flag_in_a_list_of_arguments_is_masked() -> None:
    found = scrubbed(deployment(args=["serve", "--password", CANARY, "--port", "80"]))
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["serve", "--password", MASK, "--port", "80"]


def test_the_rest_of_a_text_stays() -> None:
    text = "cannot connect to postgresql://app:pw@db:5432/orders: password authentication failed for user app"
    assert text_scrubber()(text) == text.replace("app:pw@", f"app:{MASK}@")


def test_annotations_of_other_programs_are_masked_and_ours_stay() -> None:
    notes = {
        "kubectl.kubernetes.io/last-applied-configuration": json.dumps({"stringData": {"x": CANARY}}),
        "example.com/note": CANARY,
        "kubernetes-tenants.org/extra": CANARY,
        "multigres.com/paused-since": "2026-01-01",
    }
    found = scrubbed(
        {"kind": "Cell", "metadata": {"name": "a", "annotations": notes, "managedFields": [CANARY]}}
    )
    assert found["metadata"]["annotations"]["multigres.com/paused-since"] == "2026-01-01"


def test_annotations_inside_a_pod_template_are_masked() -> None:
    manifest = deployment()
    manifest["spec"]["template"]["metadata"] = {"annotations": {"vault": CANARY}, "labels": {"app": "web"}}
    found = scrubbed(manifest)
    assert found["spec"]["template"]["metadata"]["labels"] == {"app": "web"}


def test_payloads_of_secrets_and_config_maps_inside_templates_are_masked() -> None:
    secret = {"id": "s", "spec": {"kind": "Secret", "stringData": {"password": CANARY}}}
    config = {"id": "c", "spec": {"data": {"app.conf": f"key = {CANARY}"}}}
    found = scrubbed(
        {"kind": "TenantTemplate", "metadata": {}, "spec": {"secrets": [secret], "configMaps": [config]}}
    )
    assert found["spec"]["secrets"] == [
        {"id": "s", "spec": {"kind": "Secret", "stringData": {"password": MASK}}}
    ]


def test_of_a_tenant_only_the_names_of_its_objects_stay() -> None:
    spec = {
        "uid": "acme",
        "templateRef": "web",
        "values": {"secretName": CANARY},
        "deployments": [{"id": "app", "nameTemplate": "acme-web", "spec": {"anything": CANARY}}],
    }
    found = scrubbed({"kind": "Tenant", "metadata": {"name": "acme-web"}, "spec": spec})
    assert found["spec"] == {
        "uid": "acme",
        "templateRef": "web",
        "deployments": [{"id": "app", "nameTemplate": "acme-web"}],
    }


@pytest.mark.parametrize("field", ["password", "adminPassword", "apiKey", "dsn", "secret_key", "authToken"])
def test_a_field_that_is_named_after_a_secret_is_masked(field: str) -> None:
    scrubbed({"kind": "Widget", "metadata": {}, "spec": {"deep": [{field: CANARY}]}})


def test_names_of_secrets_stay() -> None:
    spec = {"passwordRef": {"name": "db", "key": "pw"}, "connectionSecret": "db-app", "secretName": "tls"}
    assert scrubbed({"kind": "Widget", "metadata": {}, "spec": spec})["spec"] == spec


def test_statuses_are_searched_too() -> None:
    message = f"connect: password={CANARY} is wrong"
    found = scrubbed(
        {"kind": "TenantRegistry", "metadata": {}, "status": {"conditions": [{"message": message}]}}
    )
    assert found["status"]["conditions"] == [{"message": f"connect: password={MASK} is wrong"}]


def secret(**values: str) -> dict[str, Any]:
    return {"data": {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}}


def test_values_of_secrets_are_masked_wherever_they_occur() -> None:
    values = secret_values([secret(anything=CANARY)])
    encoded = base64.b64encode(CANARY.encode()).decode()
    assert (
        text_scrubber(values)(f"the row says {CANARY}, or {encoded}!") == f"the row says {MASK}, or {MASK}!"
    )


def test_names_and_short_values_of_secrets_are_not_masked() -> None:
    assert secret_values([secret(user="postgres", dbname="orders", port="5432", pin="1234")]) == []


def test_a_value_that_contains_another_is_masked_first() -> None:
    values = secret_values([secret(a="abcdef", b="abcdefghi")])
    assert text_scrubber(values)("x abcdefghi y") == f"x {MASK} y"
