"""The first certificate of a backup service restarts nothing, each later one replaces the servers."""

from typing import Any

import msgspec
import pytest

from steward.certificates.options import Lifetimes
from steward.multigres.api.shard import ShardSpec, ShardStatus
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import Owner
from steward.multigres.objects.pool import RENEWALS_ANNOTATION, pool_objects
from steward.multigres.objects.shards import ShardBuild
from steward.multigres.rollout.backup_certificates import (
    AT_ONCE,
    CALM_SECONDS,
    Present,
    in_use,
    noted,
    present,
)
from tests.multigres.support.tree import build_tree, of_kind


@pytest.mark.parametrize(
    ("before", "digest", "after"),
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
def test_a_change_is_counted_and_a_gap_is_none(
    before: dict[str, Any], digest: str, after: dict[str, Any]
) -> None:
    assert noted(msgspec.convert(before, ShardStatus), digest) == after


NOW = 1_000_000.0


def seen(leaf: str, *authorities: str) -> Present:
    return Present(leaf, frozenset(authorities))


FIRST = in_use("", seen("one", "ca"), NOW)


@pytest.mark.parametrize(
    ("present", "later", "leaf"),
    [
        (seen("one", "ca"), 0.0, "one"),
        (seen("two", "ca"), CALM_SECONDS - 1, "one"),
        (seen("two", "ca"), CALM_SECONDS, "two"),
        (seen("two", "another ca"), 0.0, "two"),
        (seen("two", "ca", "another ca"), 0.0, "two"),
    ],
    ids=[
        "the same",
        "made for other names",
        "made for other names, some time ago",
        "signed by another authority",
        "signed by another authority while the old one is trusted",
    ],
)
def test_servers_keep_a_certificate_that_was_replaced_only_for_other_names(
    present: Present, later: float, leaf: str
) -> None:
    assert in_use(FIRST, present, NOW + later).split(".")[0] == leaf


def test_an_authority_that_the_servers_do_not_know_is_news_and_one_that_goes_is_not() -> None:
    both = in_use(FIRST, seen("one", "ca", "another ca"), NOW)
    assert both != FIRST
    signed = in_use(both, seen("two", "ca", "another ca"), NOW)
    assert signed != both
    assert in_use(signed, seen("two", "another ca"), NOW) == signed


def test_who_wants_no_calm_has_every_certificate_at_once() -> None:
    first = in_use("", seen("one", "ca"), NOW, AT_ONCE)
    assert in_use(first, seen("two", "ca"), NOW, AT_ONCE) != first


def test_authorities_are_told_apart_in_whatever_order_they_come() -> None:
    one, two = (f"-----BEGIN CERTIFICATE-----\n{name}\n-----END CERTIFICATE-----\n".encode() for name in "ab")
    assert present(b"leaf", one + two) == present(b"leaf", two + one)
    assert len(present(b"leaf", one + two).authorities) == 2


def test_what_was_noted_in_another_form_is_noted_anew() -> None:
    assert in_use("a digest alone", seen("one", "ca"), NOW) == FIRST


def test_a_usual_renewal_never_falls_into_the_calm() -> None:
    lifetimes = Lifetimes()
    # Taken up late, at the end of the calm: it was made no earlier than when the calm began.
    assert lifetimes.leaf - lifetimes.renew_before >= 2 * CALM_SECONDS


@pytest.mark.parametrize(("renewals", "shown"), [(0, None), (2, "2")])
def test_pods_are_replaced_when_the_count_moves(renewals: int, shown: str | None) -> None:
    [shard] = [child for child in build_tree() if child["kind"] == "Shard"]
    spec = msgspec.convert(shard["spec"], ShardSpec)
    owner, path = Owner("Shard", "example", "x", "uid"), ShardPath("mini", "postgres", "default", "0-inf")
    build = ShardBuild(owner, path, spec, "pw", "password", "tls", certificate_renewals=renewals)
    for servers in of_kind(pool_objects(build), "StatefulSet"):
        assert servers["spec"]["template"]["metadata"]["annotations"].get(RENEWALS_ANNOTATION) == shown
