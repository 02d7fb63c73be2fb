from pathlib import Path

import pytest

from steward.kube.config.in_cluster import in_cluster_settings, is_in_cluster
from steward.kube.config.settings import Pem
from steward.kube.errors import ConfigError

ENVIRON = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    for name, content in (("token", "t"), ("ca.crt", "c"), ("namespace", "operators\n")):
        (tmp_path / name).write_text(content)
    return tmp_path


def test_a_pod_finds_its_server_token_authority_and_namespace(mount: Path) -> None:
    settings = in_cluster_settings(ENVIRON, mount)
    assert settings.server == "https://10.96.0.1:443"
    assert settings.namespace == settings.pod_namespace == "operators"
    assert settings.auth.token_file == str(mount / "token")
    assert settings.tls.authority == Pem(file=str(mount / "ca.crt"))


def test_an_ipv6_address_is_bracketed(mount: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    assert in_cluster_settings(environ, mount).server == "https://[fd00::1]:443"


def test_a_pod_needs_both_the_address_and_the_token(mount: Path) -> None:
    assert is_in_cluster(ENVIRON, mount)
    assert not is_in_cluster({}, mount)
    (mount / "token").unlink()
    assert not is_in_cluster(ENVIRON, mount)


def test_a_pod_without_a_token_is_an_error_with_the_cure(mount: Path) -> None:
    (mount / "token").unlink()
    with pytest.raises(ConfigError, match="automountServiceAccountToken: true"):
        in_cluster_settings(ENVIRON, mount)


def test_outside_a_pod_is_an_error(mount: Path) -> None:
    with pytest.raises(ConfigError, match="this is not a pod"):
        in_cluster_settings({}, mount)


def test_without_a_namespace_file_it_is_default(mount: Path) -> None:
    (mount / "namespace").unlink()
    settings = in_cluster_settings(ENVIRON, mount)
    assert (settings.namespace, settings.pod_namespace) == ("default", "")
