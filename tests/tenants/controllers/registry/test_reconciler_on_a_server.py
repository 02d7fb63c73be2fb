"""A registry on a real control plane: Tenants are created, changed and deleted with their rows."""

from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.manifests import Manifest, resource


def test_every_active_row_becomes_a_rendered_tenant_for_each_template(
    world: World, customers: Customers
) -> None:
    customers.add("acme", "umbrella")
    customers.add("asleep", active="0")
    world.apply(sqlite_registry(), config_template(), config_template("worker"))

    world.until_tenants("acme-web-app", "umbrella-web-app", "acme-worker", "umbrella-worker")

    status = until(lambda: found if (found := world.status()).get("desired") == 4 else None, world.status)
    assert (status["referencingTemplates"], status["activeRows"], status["inactiveRows"]) == (2, 2, 1)
    assert float(status["lastSyncDuration"].removesuffix("s")) >= 0
    tenant = world.tenants()["acme-web-app"]
    assert tenant["metadata"]["labels"]["kubernetes-tenants.org/uid"] == "acme"
    assert tenant["metadata"]["labels"]["kubernetes-tenants.org/registry"] == "prod"
    rendered = tenant["spec"]["configMaps"][0]["spec"]
    assert rendered["metadata"]["name"] == "acme-web-app"
    assert rendered["data"] == {"host": "acme.example.com", "plan": "basic"}
    assert world.until_condition("SourceReachable", "True")["reason"] == "SourceRead"


def test_the_tenant_of_a_deactivated_row_is_deleted_and_created_again_when_it_is_active(
    world: World, customers: Customers
) -> None:
    customers.add("acme", "umbrella", "initech", "hooli")
    world.apply(sqlite_registry(), config_template())
    world.until_tenants("acme-web-app", "umbrella-web-app", "initech-web-app", "hooli-web-app")

    customers.run("UPDATE customers SET active = 'no' WHERE id = 'acme'")
    world.until_tenants("umbrella-web-app", "initech-web-app", "hooli-web-app")
    until(lambda: world.status()["desired"] == 3, world.status)
    until(lambda: any(note.startswith("Tenant acme-web-app is") for note in world.events("TenantDeleting")))

    customers.run("UPDATE customers SET active = 'yes' WHERE id = 'acme'")
    world.until_tenants("acme-web-app", "umbrella-web-app", "initech-web-app", "hooli-web-app")


def test_a_changed_row_changes_its_tenant_and_touches_no_other(world: World, customers: Customers) -> None:
    customers.add("acme", "umbrella")
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
    secrets = [resource("secret", spec=secret, nameTemplate="{{ .uid }}-secret")]
    world.apply(sqlite_registry(), config_template(secrets=secrets))
    world.until_tenants("acme-web-app", "umbrella-web-app")
    until(lambda: world.get("secret", "umbrella-web-app-values"))
    untouched = world.get("secret", "umbrella-web-app-values")["metadata"]["resourceVersion"]
    generation = world.tenants()["umbrella-web-app"]["metadata"]["generation"]
    before = world.tenants()["acme-web-app"]["spec"]

    customers.run("UPDATE customers SET plan = 'gold-9931' WHERE id = 'acme'")

    until(lambda: world.tenants()["acme-web-app"]["spec"]["values"]["digest"] != before["values"]["digest"])
    tenants = world.tenants()
    assert tenants["umbrella-web-app"]["metadata"]["generation"] == generation
    assert world.get("secret", "umbrella-web-app-values")["metadata"]["resourceVersion"] == untouched
    assert "gold-9931" not in str(tenants["acme-web-app"]["spec"]["secrets"])
    values = until(lambda: world.get("secret", "acme-web-app-values"))
    assert values["metadata"]["ownerReferences"][0]["uid"] == tenants["acme-web-app"]["metadata"]["uid"]


def test_values_that_a_user_deletes_or_edits_are_written_again(world: World, customers: Customers) -> None:
    customers.add("acme")
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
    world.apply(sqlite_registry(), config_template(secrets=[resource("secret", spec=secret)]))
    first = until(lambda: world.get("secret", "acme-web-app-values"))

    world.kubectl("delete", "secret", "acme-web-app-values")
    second = until(lambda: world.get("secret", "acme-web-app-values"))
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert second["data"] == first["data"]
    world.kubectl("patch", "secret", "acme-web-app-values", "--type=merge", "-p", '{"data": {"secret": ""}}')
    until(lambda: world.get("secret", "acme-web-app-values")["data"] == first["data"])
    world.until_condition("Ready", "True", kind="tenant", name="acme-web-app")


def test_a_row_that_cannot_be_rendered_reports_why_and_others_are_written(
    world: World, customers: Customers
) -> None:
    customers.add("acme", plan='{"size": "XL"}')
    customers.add("umbrella", plan="{{ .uid }}")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"plan": "{{ .plan }}"}}
    resources = [resource(spec=body, labelsTemplate={"size": "{{ (mustFromJson .plan).size }}"})]
    world.apply(sqlite_registry(), config_template(configMaps=resources))
    world.until_tenants("acme-web-app", "umbrella-web-app")

    failure = world.tenants()["umbrella-web-app"]["spec"]["renderFailure"]
    assert (failure["resource"], failure["field"], failure["line"]) == ("config", "labelsTemplate.size", 1)
    assert "configMaps" not in world.tenants()["umbrella-web-app"]["spec"]
    assert (
        world.tenants()["acme-web-app"]["spec"]["configMaps"][0]["spec"]["metadata"]["labels"]["size"] == "XL"
    )

    customers.run("UPDATE customers SET plan = '{\"size\": \"S\"}' WHERE id = 'umbrella'")
    until(lambda: "renderFailure" not in world.tenants()["umbrella-web-app"]["spec"], world.tenants)


def test_text_of_a_row_is_never_a_template(world: World, customers: Customers) -> None:
    customers.add("acme", plan="{{ .uid }}")
    world.apply(sqlite_registry(), config_template())
    world.until_tenants("acme-web-app")
    assert world.tenants()["acme-web-app"]["spec"]["configMaps"][0]["spec"]["data"]["plan"] == "{{ .uid }}"


def test_rejected_rows_are_listed_and_their_tenants_stay(world: World, customers: Customers) -> None:
    customers.add("acme", "umbrella")
    world.apply(sqlite_registry(), config_template())
    world.until_tenants("acme-web-app", "umbrella-web-app")
    untouched = world.tenants()["acme-web-app"]["metadata"]["generation"]

    customers.add("acme", "", "initech")
    customers.run("INSERT INTO customers VALUES ('nul' || char(0), 'x', '1', 'p')")
    customers.run("INSERT INTO customers VALUES ('spoiled', CAST(x'ff' AS TEXT), '1', 'p')")
    customers.add("giant", plan="x" * 1_020_000)
    customers.add("titan", plan="x" * 1_050_000)

    status = until(
        lambda: found if (found := world.status()).get("rejectedRows") == 6 else None, world.status
    )
    reasons = {row["uid"]: row["reason"] for row in status["rejected"]}
    assert reasons["acme"] == "2 rows have this uid: leave one of them"
    assert "empty" in reasons[""]
    assert "NUL" in reasons["nul\ufffd"]
    assert "UTF-8" in reasons["spoiled"]
    assert "1000000" in reasons["giant"]
    assert "1048576" in reasons["titan"]
    world.until_tenants("acme-web-app", "umbrella-web-app", "initech-web-app")
    assert world.tenants()["acme-web-app"]["metadata"]["generation"] == untouched
    until(lambda: any("'acme'" in note for note in world.events("RowRejected")))

    customers.run("DELETE FROM customers WHERE rowid IN (SELECT max(rowid) FROM customers WHERE id = 'acme')")
    until(lambda: world.status().get("rejectedRows") == 5, world.status)


def test_a_tenant_that_was_changed_or_deleted_by_hand_is_restored(world: World, customers: Customers) -> None:
    customers.add("acme", "umbrella")
    world.apply(
        sqlite_registry(source={**sqlite_registry()["spec"]["source"], "syncInterval": "1h"}),
        config_template(),
    )
    world.until_tenants("acme-web-app", "umbrella-web-app")
    deleted_uid = world.tenants()["umbrella-web-app"]["metadata"]["uid"]

    world.kubectl("patch", "tenant", "acme-web-app", "--type=merge", "-p", '{"spec":{"configMaps":[]}}')
    until(lambda: world.tenants()["acme-web-app"]["spec"].get("configMaps"), world.tenants)

    world.kubectl("delete", "tenant", "umbrella-web-app", "--wait=false")
    until(
        lambda: (
            (found := world.tenants().get("umbrella-web-app")) and found["metadata"]["uid"] != deleted_uid
        ),
        world.tenants,
    )


def test_retained_objects_outlive_template_and_registry_and_are_adopted_again(
    world: World, customers: Customers
) -> None:
    customers.add("acme")
    world.apply(sqlite_registry(), config_template(), _retaining("kept", "1"))
    until(lambda: world.status().get("ready") == 2, world.status)
    uid = world.get("configmap", "acme-kept")["metadata"]["uid"]

    _delete(world, "tenanttemplate", "kept")
    assert world.active_tenants() == {"acme-web-app"}
    world.apply(_retaining("kept", "2"))
    _until_adopted(world, "2")

    _delete(world, "tenantregistry", "prod")
    world.apply(sqlite_registry(), _retaining("kept", "3"))
    _until_adopted(world, "3")
    assert world.get("configmap", "acme-kept")["metadata"]["uid"] == uid


def _retaining(name: str, version: str) -> Manifest:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"version": version}}
    kept = resource(spec=body, nameTemplate="{{ .uid }}-" + name, deletionPolicy="Retain")
    return config_template(name, configMaps=[kept])


def _orphan_marks(world: World) -> tuple[str, str]:
    """The orphan label and its reason."""
    metadata = world.get("configmap", "acme-kept")["metadata"]
    label = metadata.get("labels", {}).get("kubernetes-tenants.org/orphaned", "")
    return label, metadata["annotations"].get("kubernetes-tenants.org/orphaned-reason", "")


def _delete(world: World, kind: str, name: str) -> None:
    """Its Tenants are deleted with it, and their retained objects stay."""
    world.kubectl("delete", kind, name, "--wait=false")
    until(lambda: world.get(kind, name) is None, world.tenants)
    until(lambda: _orphan_marks(world) == ("true", "TenantDeleted"), world.tenants)


def _until_adopted(world: World, version: str) -> None:
    until(lambda: world.get("configmap", "acme-kept")["data"]["version"] == version, world.tenants)
    until(lambda: _orphan_marks(world) == ("", ""), world.tenants)


def test_a_when_that_is_neither_true_nor_false_keeps_the_object_and_names_the_template(
    world: World, customers: Customers
) -> None:
    customers.add("acme", plan="true")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {}}
    extra = resource("extra", spec=body, nameTemplate="{{ .uid }}-extra", when="{{ .plan }}")
    world.apply(sqlite_registry(), config_template(configMaps=[extra]))
    until(lambda: world.get("configmap", "acme-extra"))

    customers.run("UPDATE customers SET plan = 'hush-5812'")

    tenant = {"kind": "tenant", "name": "acme-web-app"}
    message = world.until_condition("Degraded", "True", **tenant)["message"]
    assert message.startswith("TenantTemplate web-app, resource 'extra', when: renders another text")
    until(lambda: any("TenantTemplate web-app" in note for note in world.events("TemplateRenderFailed")))
    assert world.get("configmap", "acme-extra")
    assert not any("hush-5812" in note for note in world.events("TemplateRenderFailed"))
    assert "hush-5812" not in str(world.tenants()["acme-web-app"]["spec"])

    customers.run("UPDATE customers SET plan = 'false'")
    until(lambda: world.get("configmap", "acme-extra") is None)


def test_a_password_that_is_made_once_stays_and_its_tenant_is_not_written_again(
    world: World, customers: Customers
) -> None:
    customers.add("acme")
    body = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "{{ randAlphaNum 20 }}"}}
    secret = resource("password", spec=body, nameTemplate="{{ .uid }}-password", creationPolicy="Once")
    world.apply(sqlite_registry(templateProfile="full"), config_template(secrets=[secret]))
    until(lambda: world.get("secret", "acme-password"))
    password = world.get("secret", "acme-password")["data"]
    before = {
        name: world.get(*name) for name in [("tenant", "acme-web-app"), ("secret", "acme-web-app-values")]
    }

    # The table was read and written again twice.
    for uid in ("umbrella", "initech"):
        customers.add(uid)
        until(lambda uid=uid: world.get("secret", f"{uid}-password"))

    for name, found in before.items():
        assert world.get(*name)["metadata"].get("generation") == found["metadata"].get("generation")
        assert world.get(*name).get("data") == found.get("data")
    customers.run("UPDATE customers SET plan = 'gold' WHERE id = 'acme'")
    until(lambda: world.get("configmap", "acme-web-app")["data"]["plan"] == "gold")
    values = world.get("secret", "acme-web-app-values")
    assert values["data"] == before["secret", "acme-web-app-values"]["data"]
    assert world.get("secret", "acme-password")["data"] == password
