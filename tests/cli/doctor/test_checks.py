"""The checks of `steward doctor`."""

import base64
import datetime
from typing import Any

import pytest

from steward.cli.doctor import checks
from steward.cli.doctor.checks import Grade, OperatorLocation
from steward.install import manifests
from steward.install.operators import OPERATORS
from steward.kube.objects.kinds import Manifest
from steward.local import certificates

NOW = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
TENANTS, MULTIGRES = (OperatorLocation(name, "system") for name in ("tenant-operator", "multigres-operator"))


@pytest.mark.parametrize(
    ("major", "minor", "grade"),
    [("1", "30", Grade.FINE), ("1", "36+", Grade.FINE), ("1", "29", Grade.BROKEN), ("2", "0", Grade.FINE)],
)
def test_the_server_is_new_enough_or_not(major: str, minor: str, grade: Grade) -> None:
    found = checks.check_server_version({"major": major, "minor": minor, "gitVersion": f"v{major}.{minor}.1"})
    assert found.grade is grade
    assert bool(found.cure) == (grade is Grade.BROKEN)


def test_definitions_are_current_missing_or_of_another_version() -> None:
    desired = [crd for operator in OPERATORS for crd in manifests.crds(operator)]
    live: dict[str, Manifest | None] = {crd["metadata"]["name"]: crd for crd in desired}
    assert checks.check_crds(desired, live).grade is Grade.FINE
    name = desired[0]["metadata"]["name"]
    assert f"{name} missing" in checks.check_crds(desired, {**live, name: None}).message
    old = {**desired[0], "spec": {**desired[0]["spec"], "versions": []}}
    assert f"{name} of another version" in checks.check_crds(desired, {**live, name: old}).message


@pytest.mark.parametrize(
    ("live", "desired", "expected"),
    [
        ({"a": 1, "added": 2}, {"a": 1}, True),
        ({"a": [1, {"b": 2, "c": 3}]}, {"a": [1, {"b": 2}]}, True),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": 2}, {"a": 1}, False),
        (None, {"a": 1}, False),
    ],
)
def test_defaults_added_by_the_server_are_not_a_difference(live: Any, desired: Any, expected: bool) -> None:
    assert checks.contains(live, desired) is expected


def configuration(bundle: str) -> Manifest:
    return {"webhooks": [{"clientConfig": {"caBundle": bundle}}]}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    keys = certificates.ensure(tmp_path_factory.mktemp("keys"))
    return base64.b64encode(keys.ca.certificate.read_bytes()).decode()


def test_a_trusted_certificate_is_reported_with_its_expiry(bundle: str) -> None:
    now = datetime.datetime.now(datetime.UTC)
    found = checks.check_webhook_trust(TENANTS, [configuration(bundle)], now)
    assert found.grade is Grade.FINE
    later = now + datetime.timedelta(days=3650 - 3)
    assert checks.check_webhook_trust(TENANTS, [configuration(bundle)], later).grade is Grade.WARNING
    much_later = now + datetime.timedelta(days=3651)
    assert checks.check_webhook_trust(TENANTS, [configuration(bundle)], much_later).grade is Grade.BROKEN


@pytest.mark.parametrize(
    ("found", "grade"),
    [
        ([], Grade.WARNING),
        ([configuration("")], Grade.BROKEN),
        ([configuration("bm90IGEgY2VydA==")], Grade.BROKEN),
    ],
)
def test_untrusted_webhooks_have_a_cure(found: list[Manifest], grade: Grade) -> None:
    finding = checks.check_webhook_trust(MULTIGRES, found, NOW)
    assert finding.grade is grade
    assert finding.cure


def test_unregistered_webhooks_are_reported_as_unknown() -> None:
    finding = checks.webhooks_not_registered(TENANTS)
    assert (finding.grade, finding.subject) == (Grade.UNKNOWN, "tenant-operator webhooks answer")


def test_a_cure_names_the_namespace_in_which_the_operator_is() -> None:
    assert checks.check_leader(TENANTS, None, NOW).cure.endswith(
        "kubectl get pods -n system -l app.kubernetes.io/name=tenant-operator"
    )


@pytest.mark.parametrize(
    ("spec", "grade"),
    [
        (
            {"holderIdentity": "a", "renewTime": "2026-05-31T23:59:55.000000Z", "leaseDurationSeconds": 15},
            Grade.FINE,
        ),
        (
            {"holderIdentity": "a", "renewTime": "2026-05-31T23:00:00.000000Z", "leaseDurationSeconds": 15},
            Grade.BROKEN,
        ),
        ({"holderIdentity": ""}, Grade.BROKEN),
        ({}, Grade.BROKEN),
    ],
)
def test_a_leader_needs_a_current_lease(spec: dict[str, Any], grade: Grade) -> None:
    assert checks.check_leader(TENANTS, {"spec": spec}, NOW).grade is grade


@pytest.mark.parametrize(
    ("image", "grade"),
    [
        ("steward:0.1.0", Grade.FINE),
        ("registry:5000/steward:v0.1.0@sha256:ab", Grade.FINE),
        ("steward:0.2.0", Grade.WARNING),
    ],
)
def test_different_versions_are_a_warning(image: str, grade: Grade) -> None:
    containers = [{"image": image}]
    deployment = {"spec": {"template": {"spec": {"containers": containers}}}}
    assert checks.check_version_skew("tenant-operator", deployment, "0.1.0").grade is grade


def test_each_source_is_reported_with_its_condition_message() -> None:
    def registry(name: str, *conditions: dict[str, str]) -> Manifest:
        return {"metadata": {"namespace": "saas", "name": name}, "status": {"conditions": list(conditions)}}

    unreachable = {"type": "SourceReachable", "status": "False", "message": "no route to db"}
    fine = {"type": "SourceReachable", "status": "True"}
    found = checks.check_sources([registry("a", unreachable), registry("b", fine), registry("c")])
    assert [each.grade for each in found] == [Grade.BROKEN, Grade.FINE, Grade.UNKNOWN]
    assert found[0].message == "no route to db"
    assert found[0].cure == "steward rows a -n saas"
