"""The page in a cluster has no rights of its own."""

import json

from steward.install.manifests import manifests
from steward.install.page import CERTIFICATE_ARGS, PAGE, page_labels, page_manifests, page_selector, with_page
from steward.install.values import PageValues, Values
from steward.kube.objects.kinds import Manifest


def page(**chosen: object) -> dict[str, Manifest]:
    values = Values(page=PageValues(enabled=True, **chosen))  # type: ignore[arg-type]
    return {manifest["kind"]: manifest for manifest in page_manifests(values)}


def test_it_is_off_by_default() -> None:
    assert page_manifests(Values()) == []
    assert not [each for each in manifests(Values()) if each["metadata"]["name"] == PAGE.name]


def test_it_has_neither_a_role_nor_a_token() -> None:
    found = page()
    assert sorted(found) == ["Deployment", "NetworkPolicy", "Service", "ServiceAccount"]
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert found["ServiceAccount"]["automountServiceAccountToken"] is False
    assert "serviceAccountToken" not in json.dumps(pod["volumes"])


def test_no_role_of_the_installation_names_its_service_account() -> None:
    bindings = [each for each in manifests(with_page(Values())) if each["kind"].endswith("RoleBinding")]
    subjects = [subject["name"] for binding in bindings for subject in binding["subjects"]]
    assert PAGE.name not in subjects


def test_actions_are_off_by_default() -> None:
    (container,) = page()["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert "--actions" not in container["args"]


def test_a_certificate_is_mounted_where_the_arguments_say() -> None:
    pod = page(certificate_secret="page-tls")["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert set(CERTIFICATE_ARGS) <= set(container["args"])
    assert {"name": "certificate", "secret": {"secretName": "page-tls"}} in pod["volumes"]


def test_its_selectors_match_its_pods_and_no_operator() -> None:
    assert page_selector().items() <= page_labels().items()
    assert page_selector()["app.kubernetes.io/component"] == "page"
