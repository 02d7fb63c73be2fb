"""The Deployments of the operators."""

import re

import pytest

from steward.install.network import webhook_service
from steward.install.operators import OPERATORS, TENANTS, ShippedOperator
from steward.install.values import OperatorValues, TenantsValues, Values
from steward.install.workloads import deployment, operator_workload
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml_documents


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_slow_start_is_not_mistaken_for_a_dead_process(operator: ShippedOperator) -> None:
    """On a busy node it took a minute; the liveness probe alone would have ended it after three quarters of one."""
    [container] = deployment(operator, OperatorValues(), Values())["spec"]["template"]["spec"]["containers"]
    startup = container["startupProbe"]

    assert startup["httpGet"] == container["livenessProbe"]["httpGet"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 180


def test_each_partition_has_a_deployment_with_its_part_of_the_tenants() -> None:
    made = operator_workload(TENANTS, TenantsValues(partitions=3, args=["--log-level=debug"]), Values())
    deployments = {each["metadata"]["name"]: each["spec"] for each in made if each["kind"] == "Deployment"}
    assert {
        name: spec["template"]["spec"]["containers"][0]["args"] for name, spec in deployments.items()
    } == {
        "tenant-operator": ["run", "tenants", "--shard=0/3", "--log-level=debug"],
        "tenant-operator-partition-1": ["run", "tenants", "--shard=1/3", "--log-level=debug"],
        "tenant-operator-partition-2": ["run", "tenants", "--shard=2/3", "--log-level=debug"],
    }
    for spec in deployments.values():
        selected, labels = spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"]
        assert selected.items() <= labels.items()
        assert labels["app.kubernetes.io/name"] == "tenant-operator", (
            "Services and policies select every partition"
        )


def test_only_the_first_partition_has_the_label_by_which_the_operator_finds_its_deployment() -> None:
    made = operator_workload(TENANTS, TenantsValues(partitions=3), Values())
    names = [
        each["metadata"]["labels"]["app.kubernetes.io/name"] for each in made if each["kind"] == "Deployment"
    ]
    assert names == ["tenant-operator", "tenant-operator-partition", "tenant-operator-partition"]


def test_one_partition_is_an_installation_without_partitions() -> None:
    made = operator_workload(TENANTS, TenantsValues(), Values())
    (only,) = (each for each in made if each["kind"] == "Deployment")
    assert only["spec"]["template"]["spec"]["containers"][0]["args"] == ["run", "tenants"]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_the_documented_certificate_of_cert_manager_is_for_the_webhook_service(
    operator: ShippedOperator,
) -> None:
    page = (ROOT / "docs/install.md").read_text()
    [block] = re.findall(r"^```yaml\n(.*?cert-manager.*?)^```", page, re.DOTALL | re.MULTILINE)
    certificates = {each["metadata"]["name"]: each for each in load_yaml_documents(block)}
    certificate = certificates[f"{operator.short_name}-webhook"]
    service = webhook_service(operator, Values())["metadata"]
    assert certificate["metadata"]["namespace"] == service["namespace"]
    assert certificate["spec"]["dnsNames"] == [f"{service['name']}.{service['namespace']}.svc"]
    secret = certificate["spec"]["secretName"]
    values = OperatorValues(webhook_certificate_secret=secret)
    volumes = deployment(operator, values, Values())["spec"]["template"]["spec"]["volumes"]
    assert secret in [volume.get("secret", {}).get("secretName") for volume in volumes]
    assert f"{operator.short_name}.webhookCertificateSecret:" in page
