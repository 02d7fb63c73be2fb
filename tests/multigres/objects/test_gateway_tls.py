"""Gateways that offer TLS."""

from typing import Any

import msgspec
import pytest

from steward.multigres.objects.gateway import COMPONENT
from steward.multigres.objects.metadata import COMPONENT_LABEL
from steward.multigres.objects.tree import cell_objects
from steward.multigres.views import CellView
from tests.multigres.support.tree import build_tree, of_kind, pods

OWN, MADE = "shop-tls", "mini-gateway-tls"
FILES = ["--pg-tls-cert-file=/etc/gateway-tls/tls.crt", "--pg-tls-key-file=/etc/gateway-tls/tls.key"]


def gateways(**spec: Any) -> list[Any]:
    return [
        pod for pod in pods(build_tree(**spec)) if pod["metadata"]["labels"][COMPONENT_LABEL] == COMPONENT
    ]


def tls_flags(pod: Any) -> list[str]:
    words = pod["spec"]["containers"][0]["args"]
    return [word for word in words if word.startswith(("--pg-tls", "--pg-require"))]


@pytest.mark.parametrize(
    ("tls", "flags", "secret"),
    [
        ({"enabled": True}, FILES, MADE),
        ({"enabled": True, "secretName": OWN}, FILES, OWN),
        ({"enabled": True, "required": True}, [*FILES, "--pg-require-ssl"], MADE),
    ],
    ids=["made", "own", "required"],
)
def test_gateways_of_all_cells_have_the_certificate(tls: Any, flags: list[str], secret: str) -> None:
    found = gateways(gatewayTls=tls)
    assert len(found) == 3
    for pod in found:
        assert tls_flags(pod) == flags
        [volume] = [each for each in pod["spec"]["volumes"] if each["name"] == "gateway-tls"]
        assert volume["secret"]["secretName"] == secret
        assert [item["key"] for item in volume["secret"]["items"]] == ["tls.crt", "tls.key"]
        mounts = {each["name"]: each["mountPath"] for each in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounts["gateway-tls"] == "/etc/gateway-tls"


@pytest.mark.parametrize("tls", [None, {"enabled": False, "secretName": OWN}], ids=["unset", "off"])
def test_gateways_offer_no_tls_unless_it_is_enabled(tls: Any) -> None:
    spec = {} if tls is None else {"gatewayTls": tls}
    assert gateways(**spec) == gateways()
    assert not any(map(tls_flags, gateways(**spec)))


def test_gateways_are_replaced_for_a_new_certificate() -> None:
    cell = msgspec.convert(of_kind(build_tree(gatewayTls={"enabled": True}), "Cell")[0], CellView)
    first, second = (pods(cell_objects(cell, digest)) for digest in ("a1", "b2"))
    assert first != second
    assert first[0]["metadata"]["annotations"]["multigres.com/gateway-certificate"] == "a1"
