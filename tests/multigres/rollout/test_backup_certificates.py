"""The first certificate of a backup service restarts nothing, each later one replaces the servers."""

from typing import Any

import msgspec
import pytest

from steward.certificates.options import Lifetimes
from steward.multigres.api.shard import ShardSpec, ShardStatus
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.pool import pool_objects
from steward.multigres.objects.repository.access import RENEWALS_ANNOTATION
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.rollout.backup_certificates import (
    IMMEDIATELY,
    SETTLE_SECONDS,
    CertificateDigests,
    certificate_digests,
    certificate_in_use,
    certificate_status,
)
from tests.multigres.support.tree import build_tree, of_kind


@pytest.mark.parametrize(
    ("previous", "digest", "current"),
    [
        ({}, "", {}),
        ({}, "one", {"backupCertificate": "one", "backupCertificateRenewals": 0}),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 0},
            "one",
            {"backupCertificate": "one", "backupCertificateRenewals": 0},
        ),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
            "two",
            {"backupCertificate": "two", "backupCertificateRenewals": 2},
        ),
        (
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
            "",
            {"backupCertificate": "one", "backupCertificateRenewals": 1},
        ),
    ],
)
def test_a_changed_certificate_is_counted_and_a_missing_one_is_not(
    previous: dict[str, Any], digest: str, current: dict[str, Any]
) -> None:
    assert certificate_status(msgspec.convert(previous, ShardStatus), digest) == current


NOW = 1_000_000.0


def digests(leaf: str, *authorities: str) -> CertificateDigests:
    return CertificateDigests(leaf, frozenset(authorities))


FIRST = certificate_in_use("", digests("one", "ca"), NOW)


@pytest.mark.parametrize(
    ("live", "later", "leaf"),
    [
        (digests("one", "ca"), 0.0, "one"),
        (digests("two", "ca"), SETTLE_SECONDS - 1, "one"),
        (digests("two", "ca"), SETTLE_SECONDS, "two"),
        (digests("two", "another ca"), 0.0, "two"),
        (digests("two", "ca", "another ca"), 0.0, "two"),
    ],
    ids=[
        "the same",
        "made for other names",
        "made for other names, some time ago",
        "signed by another authority",
        "signed by another authority while the old one is trusted",
    ],
)
def test_servers_keep_a_certificate_that_was_replaced_only_because_of_its_names(
    live: CertificateDigests, later: float, leaf: str
) -> None:
    assert certificate_in_use(FIRST, live, NOW + later).split(".")[0] == leaf


def test_a_new_authority_is_adopted_and_a_removed_one_is_not() -> None:
    both = certificate_in_use(FIRST, digests("one", "ca", "another ca"), NOW)
    assert both != FIRST
    signed = certificate_in_use(both, digests("two", "ca", "another ca"), NOW)
    assert signed != both
    assert certificate_in_use(signed, digests("two", "another ca"), NOW) == signed


def test_without_a_settle_time_every_certificate_is_adopted_at_once() -> None:
    first = certificate_in_use("", digests("one", "ca"), NOW, IMMEDIATELY)
    assert certificate_in_use(first, digests("two", "ca"), NOW, IMMEDIATELY) != first


def test_the_order_of_authorities_does_not_matter() -> None:
    one, two = (f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n".encode() for name in "ab")
    assert certificate_digests(b"leaf", one + two) == certificate_digests(b"leaf", two + one)
    assert len(certificate_digests(b"leaf", one + two).authorities) == 2


def test_a_status_in_another_format_is_written_again() -> None:
    assert certificate_in_use("a digest alone", digests("one", "ca"), NOW) == FIRST


def test_a_regular_renewal_never_falls_into_the_settle_time() -> None:
    lifetimes = Lifetimes()
    # Taken up late, at the end of the calm: it was made no earlier than when the calm began.
    assert lifetimes.leaf - lifetimes.renew_before >= 2 * SETTLE_SECONDS


@pytest.mark.parametrize(("renewals", "shown"), [(0, None), (2, "2")])
def test_pods_are_replaced_when_the_number_of_renewals_changes(renewals: int, shown: str | None) -> None:
    [shard] = [child for child in build_tree() if child["kind"] == "Shard"]
    spec = msgspec.convert(shard["spec"], ShardSpec)
    owner, path = Owner("Shard", "example", "x", "uid"), ShardPath("mini", "postgres", "default", "0-inf")
    build = ShardInputs(owner, path, spec, "pw", "password", "tls", certificate_renewals=renewals)
    for servers in of_kind(pool_objects(build), "StatefulSet"):
        assert servers["spec"]["template"]["metadata"]["annotations"].get(RENEWALS_ANNOTATION) == shown
