"""Which Secrets the TLS of gateways needs."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.external_refs import referenced_secrets
from steward.multigres.resolution.gateway_tls import made_secrets
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates


def spec(tls: dict[str, Any] | None) -> MultigresClusterSpec:
    fields = {"cells": [{"zone": "a"}], **({} if tls is None else {"gatewayTls": tls})}
    return msgspec.convert(fields, MultigresClusterSpec)


@pytest.mark.parametrize(
    ("tls", "made", "referenced"),
    [
        (None, set(), {}),
        ({"enabled": False, "secretName": "own"}, set(), {}),
        ({"enabled": True}, {"c-gateway-ca", "c-gateway-tls"}, {}),
        ({"enabled": True, "secretName": "own"}, set(), {"own": "spec.gatewayTls.secretName"}),
    ],
    ids=["unset", "off", "made", "own"],
)
def test_a_certificate_is_made_unless_the_user_names_one(tls: Any, made: set[str], referenced: Any) -> None:
    written = spec(tls)
    resolved = resolve(ClusterIdentity("ns", "c"), written, Templates({}, {}, {}))
    assert made_secrets("c", written) == made
    assert referenced_secrets(written, resolved) == referenced
