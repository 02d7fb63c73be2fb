"""Attacks by an author of rows, who can write anything into the table and nothing else, on a running operator."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from tests.attacks.support.process_memory import MIB, peak_bytes
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, until
from tests.tenants.support.fleet import (
    Fleet,
    config_map,
    create_namespaces,
    delete_tenants_and_namespaces,
)
from tests.tenants.support.fleet import resource as evaluated_resource
from tests.tenants.support.manifests import Manifest, registry, resource, template
from tests.tenants.support.operator import running_operator

pytestmark = [pytest.mark.timeout(1200), pytest.mark.needs_server]

ATTACKS = 10
HONEST = ("acme", "hooli", "initech", "umbrella")
SECRET_VALUE = "AKIA-s3cret-value-of-a-row"
MEMORY_BYTES = 700 * MIB
"""The operator, a table of 256 MiB, which is the limit without a memory limit, and what a sync needs for it."""


class Site(NamedTuple):
    """One operator for all tests of this file; each test has a namespace and a table of its own."""

    kubectl: Kubectl
    homes: Iterator[str]
    directory: Path
    operator: subprocess.Popen[bytes]


class Attack:
    """A table whose rows the attacker writes, and the namespace with its Tenants."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.namespace = next(site.homes)
        self.world = World(site.kubectl, self.namespace)
        (site.directory / self.namespace).mkdir()
        self.table = Customers(site.directory / self.namespace)

    def registry(self, table: str = "customers", **spec: Any) -> Manifest:
        file = f"{self.namespace}/{self.table.path.name}"
        source = {"type": "sqlite", "syncInterval": "1s", "sqlite": {"file": file, "table": table}}
        return registry(**{"source": source, "extraValueMappings": {"plan": "plan"}, **spec})

    def insert(self, uid: Any, url: Any, plan: Any = "", active: Any = "1") -> None:
        self.table.run("INSERT INTO customers VALUES (?, ?, ?, ?)", uid, url, active, plan)

    def start(self, **template_spec: Any) -> None:
        """Four honest rows become Tenants."""
        self.table.add(*HONEST)
        self.world.apply(self.registry(), template(**template_spec))
        self.world.until_tenants(*(f"{uid}-web-app" for uid in HONEST))

    def rejected(self) -> dict[str, str]:
        return {row["uid"]: row["reason"] for row in self.world.status().get("rejected", [])}

    def until_rejected(self, *uids: str) -> dict[str, str]:
        until(lambda: set(self.rejected()) == set(uids), self.world.status)
        return self.rejected()

    def until_synced(self) -> None:
        """Until a row that is written now has become a Tenant: all rows before it have been read. Their Tenants are
        created concurrently: some may still be missing."""
        uid = f"probe{len(self.world.tenants())}"
        self.table.add(uid)
        until(lambda: f"{uid}-web-app" in self.world.tenants(), self.world.status)

    def until_tenants_of(self, uids: Iterable[str]) -> dict[str, Manifest]:
        """The Tenants by name, once there is one for each of these rows."""
        wanted = set(uids)

        def found() -> set[str]:
            return {tenant["spec"]["uid"] for tenant in self.world.tenants().values()}

        until(lambda: wanted <= found(), lambda: f"missing: {sorted(wanted - found())}")
        return self.world.tenants()

    def tenant_uids(self) -> dict[str, str]:
        return {name: found["metadata"]["uid"] for name, found in self.world.tenants().items()}


@pytest.fixture(scope="module")
def site(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    homes = create_namespaces(tenants_kubectl, ATTACKS)
    directory = tmp_path_factory.mktemp("operator")
    with running_operator(control_plane, ",".join(homes), directory / "operator.log") as process:
        try:
            yield Site(tenants_kubectl, iter(homes), directory, process)
        finally:
            # Without their tables the registries create no Tenants again.
            for home in homes:
                shutil.rmtree(directory / home, ignore_errors=True)
            delete_tenants_and_namespaces(tenants_kubectl, homes)


@pytest.fixture
def attack(site: Site) -> Attack:
    return Attack(site)


def config(data: dict[str, str], **fields: Any) -> Manifest:
    return resource(spec={"apiVersion": "v1", "kind": "ConfigMap", "data": data}, **fields)


def test_rows_that_are_too_large_are_rejected_and_the_others_become_tenants(attack: Attack) -> None:
    """Also after an hour of back-off: the failure of one row delays nothing."""
    attack.start()
    attack.insert("large", "https://" + "x" * 2_000_000)
    attack.insert("slow", "https://" + "%2" * 200_000)
    attack.insert("broken", b"\xff\xfe")
    attack.insert("x" * 5_000, "https://x")
    attack.insert(b"\0" * 3, "https://x")
    attack.insert(None, "https://x")
    reasons = attack.until_rejected("large", "slow", "broken", "x" * 60 + "…", "\ufffd" * 3, "")
    attack.until_synced()

    assert "more than 1048576 bytes together: shorten them" in reasons["large"]
    assert "too many to find the host: shorten it" in reasons["slow"]
    ready = attack.world.until_condition("Ready", "True")
    assert "rejected rows: 6, see status.rejected" in ready["message"]

    attack.table.run("DELETE FROM customers WHERE url NOT LIKE 'https://%.example.com'")
    attack.until_rejected()
    assert "rejected" not in attack.world.until_condition("Ready", "True")["message"]


VALUES = (
    "{{ .uid }}{{ fail `executed` }}",
    '"}},"kind":"Secret","x":{"y":"',
    "a: b\n---\napiVersion: v1\nkind: Secret\n",
    "${jndi:ldap://x} $(id) `id` %s %n",
    "\u202e\u0000 ✓ 💥",
    "lines \r\n \u0085 \u2028 \u2029 \x7f \x9f \ufeff \uffff end",
)


def test_values_are_data_in_every_field(attack: Attack) -> None:
    data = {"url": "{{ .hostOrUrl }}", "plan": "{{ .plan }}", "json": '{"plan": {{ .plan | toJson }}}'}
    attack.start(configMaps=[config(data, annotationsTemplate={"plan": "{{ .plan | quote }}"})])
    for number, value in enumerate(VALUES):
        attack.insert(f"evil{number}", value, plan=value)
    tenants = attack.until_tenants_of(f"evil{number}" for number in range(len(VALUES)))
    for number, value in enumerate(VALUES):
        (found,) = tenants[f"evil{number}-web-app"]["spec"]["configMaps"]
        assert found["spec"]["kind"] == "ConfigMap"
        assert found["spec"]["data"]["plan"] == found["spec"]["data"]["url"] == value
        assert json.loads(found["spec"]["data"]["json"]) == {"plan": value}
    assert attack.rejected() == {}


UIDS = (
    "Acme", "ACME", "acme ", " acme", "acme.", "äcme", "a\u0308cme", "\uff41cme", "../acme", "acme/../x",
    "kube-system", "acme\n", "acme-web-app", "x" * 253, "💥", "-", ".", "..", "%00", "'; DROP TABLE customers; --",
)  # fmt: skip


def test_no_uid_is_taken_for_another(attack: Attack) -> None:
    """However similar they are for people, file systems or databases."""
    attack.start()
    before = attack.tenant_uids()
    for uid in UIDS:
        attack.insert(uid, "https://x")
    tenants = attack.until_tenants_of([*UIDS, *HONEST])
    labels = {tenant["metadata"]["labels"]["kubernetes-tenants.org/uid"] for tenant in tenants.values()}
    assert len(labels) == len(tenants)
    assert before.items() <= attack.tenant_uids().items()
    assert attack.rejected() == {}


def test_a_tenant_with_names_that_no_object_can_have_is_deleted(attack: Attack) -> None:
    """As rows could make them in earlier versions."""
    fleet = Fleet(attack.site.kubectl, attack.namespace)
    names = ("%00", "..", "a/b")
    fleet.tenant(configMaps=[evaluated_resource(f"c{n}", config_map(name)) for n, name in enumerate(names)])
    attack.world.until_condition("Degraded", "True", kind="tenant", name="acme")
    attack.world.kubectl("delete", "tenant", "acme", "--wait=false")
    fleet.until_deleted("tenants.operator.kubernetes-tenants.org", "acme")


def test_uids_with_colliding_hashes_get_tenants_of_their_own(attack: Attack) -> None:
    """Both have the same name with a short hash for the template `web`."""
    attack.table.add("acme")
    attack.world.apply(attack.registry(), template("web"))
    for number in ("9923", "480868"):
        attack.insert("x" * 60 + number, "https://x")
    until(lambda: len(attack.world.tenants()) == 3, attack.world.tenants)
    uids = {tenant["spec"]["uid"] for tenant in attack.world.tenants().values()}
    assert uids == {"acme", "x" * 60 + "9923", "x" * 60 + "480868"}


def test_a_row_cannot_take_objects_of_another_tenant(attack: Attack) -> None:
    """Where a template names objects after values, a row names those of another Tenant, also its values."""
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
    attack.start(
        configMaps=[config({"plan": "{{ .plan }}"}, nameTemplate="{{ .plan | default .uid }}-config")],
        secrets=[resource("secret", spec=secret, nameTemplate="{{ .plan | default .uid }}")],
    )
    attack.table.run("UPDATE customers SET plan = ''")
    until(lambda: attack.world.get("configmap", "acme-config"), attack.world.tenants)
    values = until(lambda: attack.world.get("secret", "acme-web-app-values"))
    attack.insert("thief", "https://x", plan="acme")
    attack.insert("robber", "https://x", plan="acme-web-app-values")
    for name in ("thief-web-app", "robber-web-app"):
        attack.world.until_condition("Degraded", "True", kind="tenant", name=name)
    found = attack.world.get("configmap", "acme-config")
    assert found["metadata"]["labels"]["kubernetes-tenants.org/tenant"] == "acme-web-app"
    assert found["data"] == {"plan": ""}
    assert attack.world.get("secret", "acme-web-app-values")["data"] == values["data"]


def test_a_row_that_flips_changes_no_other_tenant(attack: Attack) -> None:
    attack.start()
    before = attack.tenant_uids()
    for number in range(10):
        active = ("0", "1", "yes", "no", "2", "TRUE", "\0", "1 ", "", "1")[number]
        attack.table.run("UPDATE customers SET active = ? WHERE id = 'acme'", active)
        attack.until_synced()
    del before["acme-web-app"]
    until(lambda: "acme-web-app" in attack.world.active_tenants(), attack.world.tenants)
    assert before.items() <= attack.tenant_uids().items()


def test_rows_that_cannot_be_read_delete_no_tenant(attack: Attack) -> None:
    """Neither duplicates of honest rows, nor rows whose uid was overwritten with something unreadable."""
    attack.start()
    before = attack.tenant_uids()
    attack.insert("acme", "https://evil")
    attack.insert("hooli", "x" * 2_000_000, active="0")
    attack.until_rejected("acme", "hooli")
    attack.table.run("UPDATE customers SET id = CAST(x'ff' AS TEXT)")
    attack.until_rejected("")
    attack.until_synced()
    assert before.items() <= attack.tenant_uids().items()


def test_values_of_rows_reach_no_log_status_or_event(attack: Attack) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"plan": "{{ .plan }}"}}
    attack.start(secrets=[resource("secret", spec=secret, nameTemplate="{{ .uid }}-secret")], configMaps=[])
    attack.insert("long", "x" * 2_000_000, plan=SECRET_VALUE)
    attack.insert("twice", SECRET_VALUE, plan=SECRET_VALUE)
    attack.insert("twice", SECRET_VALUE, plan=SECRET_VALUE)
    attack.insert("bytes", b"\xff" + SECRET_VALUE.encode(), plan=SECRET_VALUE)
    attack.insert("good", "https://good", plan=SECRET_VALUE)
    attack.until_rejected("long", "twice", "bytes")
    attack.until_synced()
    until(lambda: attack.world.get("secret", "good-secret"), attack.world.tenants)
    shown = attack.world.kubectl("get", "tenantregistries,tenants,events", "-o", "yaml")
    assert SECRET_VALUE not in shown
    assert SECRET_VALUE not in (attack.site.directory / "operator.log").read_text()


def test_endless_rows_end_the_read_and_change_nothing(attack: Attack) -> None:
    """A view that the operator cannot read to its end: its rows neither fill the memory nor delete a Tenant."""
    attack.start()
    before = attack.tenant_uids()
    attack.table.run(
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT 'x' || i AS id, printf('%.100000c', '💥') AS url, '1' AS active, '' AS plan FROM n"
    )
    attack.world.apply(attack.registry("endless"))
    ready = attack.world.until_condition("Ready", "False")
    assert "the table is too large for tenants" in ready["message"]
    assert "read a view of fewer rows or columns" in ready["message"]
    assert attack.tenant_uids() == before
    assert peak_bytes(attack.site.operator.pid) < MEMORY_BYTES
    attack.world.apply(attack.registry())
    attack.until_synced()
