"""The certificates of a cluster."""

from __future__ import annotations

import time
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.page.models.certificates import certificate_lines
from tests.page.support import sample_objects as sample

DAY = 86400


def shard(days: float = 300, *, is_valid: bool = True, own: bool = False) -> Manifest:
    """A Shard whose certificate ends in so many days; `own` for a Secret of the user."""
    made = sample.shard("0-inf", [sample.server("db-0", "zone-a", role="Primary")])
    message = "Secret mine lacks tls.key" if not is_valid else "valid"
    made["status"] |= {
        "conditions": [sample.condition("BackupCertificatesReady", str(is_valid), message)],
        "backupCertificateExpiry": sample.ago(-days * DAY),
    }
    if own:
        made["spec"]["backup"] = {"type": "filesystem", "pgbackrestTLS": {"secretName": "mine"}}
    return made


def line(**parts: Any) -> Any:
    return lines(shard(**parts))[0]


def lines(*shards: Manifest, cluster: Manifest | None = None) -> list[Any]:
    without_tls = sample.cluster(spec={"cells": []})
    return list(certificate_lines(cluster or without_tls, shards, time.time()))


def cluster_with_tls(days: float = 300, *, is_valid: bool = True, **tls: Any) -> Manifest:
    """A cluster whose gateways have a certificate that ends in so many days."""
    made = sample.cluster(spec={"cells": [], "gatewayTls": {"enabled": True, **tls}})
    message = "gateways have a valid certificate" if is_valid else "Secret mine has no certificate"
    made["status"]["conditions"] = [sample.condition("GatewayCertificateReady", str(is_valid), message)]
    made["status"]["gatewayCertificateExpiry"] = sample.ago(-days * DAY)
    return made


def test_a_certificate_of_the_operator_names_its_secret_and_its_end() -> None:
    found = line(days=300.5)
    assert (found.secret, found.renewed_by) == ("db-postgres-default-0-inf-pgbackrest-tls", "the operator")
    assert (found.left, found.health) == ("300 d", "ready")


def test_a_secret_of_the_user_is_renewed_by_its_owner() -> None:
    found = line(own=True)
    assert (found.secret, found.renewed_by) == ("mine", "its owner")


@pytest.mark.parametrize(
    ("parts", "health", "text"),
    [
        ({"is_valid": False}, "failed", "Secret mine lacks tls.key"),
        ({"days": -1}, "failed", "It has ended"),
        ({"days": 20, "own": True}, "waiting", "It ends soon"),
        ({"days": 20}, "ready", "valid"),
    ],
)
def test_the_state_says_what_to_do(parts: dict[str, Any], health: str, text: str) -> None:
    found = line(**parts)
    assert found.health == health
    assert found.text.startswith(text)


def test_an_ended_certificate_has_no_time_left() -> None:
    assert line(days=-1).left == ""


def test_a_certificate_that_the_operator_has_not_checked_waits() -> None:
    made = shard()
    made["status"] = {}
    found = lines(made)[0]
    assert (found.health, found.ends, found.left) == ("waiting", "", "")


def test_a_shard_of_another_version_is_shown_without_its_secret() -> None:
    made = shard()
    made["spec"]["shardName"] = "x" * 100
    found = lines(made)[0]
    assert (found.secret, found.health) == ("", "ready")


def test_the_certificate_of_the_gateways_comes_first() -> None:
    found = lines(shard(), cluster=cluster_with_tls(days=90.5))
    assert [each.used_by for each in found] == ["gateways", "postgres/default/0-inf"]
    assert (found[0].secret, found[0].renewed_by) == ("db-gateway-tls", "the operator")
    assert (found[0].left, found[0].health) == ("90 d", "ready")


def test_gateways_without_tls_have_no_certificate() -> None:
    disabled = sample.cluster(spec={"cells": [], "gatewayTls": {"enabled": False}})
    assert lines() == lines(cluster=disabled) == []


@pytest.mark.parametrize(
    ("parts", "health", "text"),
    [
        ({"is_valid": False, "secretName": "mine"}, "failed", "Secret mine has no certificate"),
        ({"days": -1}, "failed", "It has ended: clients that check it"),
        ({"days": 20, "secretName": "mine"}, "waiting", "It ends soon"),
        ({"days": 20}, "ready", "gateways have a valid certificate"),
    ],
)
def test_the_state_of_the_gateways_certificate_says_what_to_do(
    parts: dict[str, Any], health: str, text: str
) -> None:
    found = lines(cluster=cluster_with_tls(**parts))[0]
    assert found.health == health
    assert found.text.startswith(text)


def test_a_cluster_of_another_version_is_shown_without_its_certificate() -> None:
    made = cluster_with_tls()
    made["spec"]["gatewayTls"] = "yes"
    assert lines(cluster=made) == []
