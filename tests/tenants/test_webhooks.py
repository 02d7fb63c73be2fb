"""The answers of the webhooks, without a server: all problems at once, advice as warnings, and held deletions."""

from typing import Any

import msgspec
import pytest

from steward.admission.review import Allowed, Denied, Review, decode_review
from steward.kube.errors import NotFound, Unreachable
from steward.kube.objects.kinds import Key, Kind
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.group import GROUP, VERSION
from steward.tenants.views import Registry, Tenant, TenantSpecSummary
from steward.tenants.webhooks import TenantWebhooks
from tests.tenants.support.manifests import Manifest, registry, resource, template


class Server:
    """The requests that the webhooks send to an API server."""

    def __init__(self, registry: Manifest | None = None, tenants: int = 0) -> None:
        self._registry = registry
        self._tenants = tenants

    async def get(self, kind: Kind, key: Key, view: Any) -> Any:
        if self._registry is None:
            raise NotFound(404, "NotFound", "not found")
        return Registry(ObjectMeta(name=key.name, namespace=key.namespace), self._registry["spec"])

    async def list(self, kind: Kind, query: Any, view: Any) -> Any:
        items = [
            Tenant(
                ObjectMeta(name=f"t{number}-web-app"),
                TenantSpecSummary(uid=f"t{number}", template_ref="web-app"),
            )
            for number in range(self._tenants)
        ]
        return msgspec.defstruct("Listing", [("items", list[Any])])(items)


def review(manifest: Manifest, operation: str = "CREATE", old: Manifest | None = None) -> Review:
    kind = {"group": GROUP, "version": VERSION, "kind": manifest["kind"]}
    side = "oldObject" if operation == "DELETE" else "object"
    request = {
        "uid": "1", "operation": operation, "kind": kind, "namespace": "shop",
        "name": manifest["metadata"]["name"], "oldObject": old, side: manifest,
    }  # fmt: skip
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return decode_review(msgspec.json.encode(body))


def webhooks(server: Server | None = None) -> TenantWebhooks:
    return TenantWebhooks(server or Server(registry()))  # type: ignore[arg-type]


async def test_every_problem_of_a_template_is_reported_at_once_with_field_line_and_column() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "one\n{{ .uid | uper }}"}}
    resources = [
        resource("a", spec=body, dependIds=["b"]),
        resource("b", dependIds=["a"], nameTemplate="{{ .uid"),
        resource("c", dependIds=["nobody"], ignoreFields=["$.["]),
    ]
    response = await webhooks().validate_template(review(template(configMaps=resources)))
    assert isinstance(response, Denied)
    causes = {cause.field: cause.message for cause in response.causes}
    assert causes["spec.configMaps[a].spec.data.a"].startswith("line 2, column ")
    assert 'function "uper" not defined' in causes["spec.configMaps[a].spec.data.a"]
    assert "^" in causes["spec.configMaps[a].spec.data.a"]
    assert "unclosed action" in causes["spec.configMaps[b].nameTemplate"]
    assert "Dependency cycle detected: a -> b -> a" in causes["spec.configMaps[a].dependIds"]
    assert "'nobody'" in causes["spec.configMaps[c].dependIds"]
    assert "spec.configMaps[c].ignoreFields[0]" in causes


async def test_a_variable_of_the_registry_is_no_error_and_one_that_it_lacks_is_a_warning() -> None:
    known = Server(registry(extraValueMappings={"plan": "plan_id"}))
    resources = [resource(nameTemplate="{{ .uid }}-{{ .plan }}", labelsTemplate={"tier": "{{ .tier }}"})]
    response = await webhooks(known).validate_template(review(template(configMaps=resources)))
    assert isinstance(response, Allowed)
    assert [warning.split(":")[0] for warning in response.warnings] == [
        "spec.configMaps[config].labelsTemplate.tier, line 1, column 3"
    ]


async def test_a_registry_that_comes_later_is_a_warning() -> None:
    response = await webhooks(Server(None)).validate_template(review(template()))
    assert isinstance(response, Allowed)
    assert "there is no TenantRegistry 'prod'" in response.warnings[0]


async def test_random_functions_are_denied_unless_the_registry_allows_them() -> None:
    random = template(configMaps=[resource(labelsTemplate={"x": "{{ randAlpha 5 }}"})])
    assert isinstance(await webhooks().validate_template(review(random)), Denied)
    full = await webhooks(Server(registry(templateProfile="full"))).validate_template(review(random))
    assert isinstance(full, Allowed)
    assert "gives another result at every sync" in full.warnings[0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": {"type": "mysql", "syncInterval": "30s"}}, "spec.source.mysql"),
        ({"valueMappings": {"uid": "", "hostOrUrl": "h", "activate": "a"}}, "valueMappings.uid"),
        ({"deletionGuard": {"gracePeriod": "soon"}}, "deletionGuard.gracePeriod"),
    ],
)
async def test_an_invalid_registry_is_denied(change: Manifest, field: str) -> None:
    response = await webhooks().validate_registry(review(registry(**change)))
    assert isinstance(response, Denied)
    assert field in response.message


async def test_defaults_are_filled_in() -> None:
    bare = registry(source={"type": "mysql", "mysql": {"host": "db", "port": 0}})
    response = await webhooks().default_registry(review(bare))
    assert isinstance(response, Allowed)
    assert response.object is not None
    assert response.object["spec"]["source"]["syncInterval"] == "30s"
    assert response.object["spec"]["source"]["mysql"]["port"] == 3306

    defaulted = await webhooks().default_template(review(template(configMaps=[resource(waitForReady=False)])))
    assert isinstance(defaulted, Allowed)
    assert defaulted.object is not None
    assert defaulted.object["spec"]["configMaps"][0] == {
        **resource(), "creationPolicy": "WhenNeeded", "deletionPolicy": "Delete", "conflictPolicy": "Stuck",
        "waitForReady": False, "timeoutSeconds": 300, "patchStrategy": "apply",
    }  # fmt: skip


@pytest.mark.parametrize("spec", [["a"], "text", 7])
async def test_a_spec_that_is_no_object_is_left_to_the_schema(spec: object) -> None:
    for manifest, default in (
        (registry(), webhooks().default_registry),
        (template(), webhooks().default_template),
    ):
        assert await default(review({**manifest, "spec": spec})) == Allowed()


async def test_a_deletion_is_allowed_if_the_api_server_does_not_answer() -> None:
    class Silent(Server):
        async def get(self, kind: Kind, key: Key, view: Any) -> Any:
            raise Unreachable("no answer")

    assert await webhooks(Silent()).validate_template(review(template(), "DELETE")) == Allowed()


@pytest.mark.parametrize("manifest", [registry(), template()], ids=["registry", "template"])
async def test_a_deletion_over_the_limit_gets_a_warning_with_the_approval(
    manifest: Manifest,
) -> None:
    tenant_webhooks = webhooks(Server(registry(), tenants=4))
    validate = (
        tenant_webhooks.validate_registry
        if manifest["kind"] == "TenantRegistry"
        else tenant_webhooks.validate_template
    )
    response = await validate(review(manifest, "DELETE"))
    assert isinstance(response, Allowed)
    assert "waits: 4 Tenants would be deleted with it" in response.warnings[0]
    approval = response.warnings[0].split('"')[1]

    approved = {**manifest, "metadata": {**manifest["metadata"], "annotations": {
        "kubernetes-tenants.org/approve-deletion": approval}}}  # fmt: skip
    response = await validate(review(approved, "DELETE"))
    assert response == Allowed()


async def test_a_deletion_within_the_limit_gets_no_warning() -> None:
    response = await webhooks(Server(registry(), tenants=1)).validate_template(review(template(), "DELETE"))
    assert response == Allowed()


TOKEN = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token"}


async def test_what_every_operator_refuses_is_denied_at_once() -> None:
    secrets = [resource("token", spec=TOKEN, targetNamespace="kube-system")]
    response = await webhooks().validate_template(review(template(secrets=secrets)))
    assert isinstance(response, Denied)
    fields = [cause.field for cause in response.causes]
    assert fields == ["spec.secrets[token].spec.type", "spec.secrets[token].targetNamespace"]


async def test_a_stored_template_with_refused_objects_stays_editable() -> None:
    stored = template(secrets=[resource("token", spec=TOKEN)])
    edited = template(secrets=[resource("token", spec=TOKEN)], serviceAccountName="deployer")
    response = await webhooks().validate_template(review(edited, "UPDATE", stored))
    assert isinstance(response, Allowed)
    more = template(secrets=[resource("token", spec=TOKEN), resource("second", spec=TOKEN)])
    response = await webhooks().validate_template(review(more, "UPDATE", stored))
    assert isinstance(response, Denied)
    assert [cause.field for cause in response.causes] == ["spec.secrets[second].spec.type"]


async def test_what_needs_a_label_or_an_account_is_a_warning() -> None:
    config = [resource(targetNamespace="other")]
    response = await webhooks().validate_template(review(template(configMaps=config)))
    assert isinstance(response, Allowed)
    (warning,) = response.warnings
    assert "kubernetes-tenants.org/allow-templates-from=shop" in warning
