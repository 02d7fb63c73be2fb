"""Certificates of the backup service over years: with a fake clock and Secrets on a real API server."""

import base64

import msgspec
import pytest

from steward.certificates.x509 import is_signed_by, read_certificate, split_bundle
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.options import DeleteOptions
from steward.kube.objects.patches import MergePatch
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres.api.compute import Pool
from steward.multigres.objects.repository.access import repository_address
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.objects.versions import NEWEST
from tests.multigres.support.certificates import CA, DAY, HOUR, LEAF, YEAR, CertificateScenario

ONE_CA, ANOTHER_CA = (f"{name}\n-----END CERTIFICATE-----\n" for name in ("one", "another"))


async def test_the_controller_requeues_within_the_hour(certificates: CertificateScenario) -> None:
    assert 0 < await certificates.reconcile() <= HOUR
    [condition] = certificates.reported.conditions
    assert (condition["type"], condition["status"]) == ("BackupCertificatesReady", "True")


async def test_the_end_of_the_certificate_is_reported(certificates: CertificateScenario) -> None:
    await certificates.reconcile()
    facts = read_certificate((await certificates.data(LEAF))["tls.crt"])
    assert facts is not None
    reported = certificates.shards[certificates.key].status.backup_certificate_expiry
    assert reported == to_timestamp(facts.not_after)


async def test_a_leaf_is_renewed_in_time_and_the_authority_stays(certificates: CertificateScenario) -> None:
    await certificates.reconcile()
    first, authority = await certificates.data(LEAF), await certificates.data(CA)
    certificates.clock.advance(YEAR - 29 * DAY)
    await certificates.reconcile()
    second = await certificates.data(LEAF)
    assert second["tls.crt"] != first["tls.crt"]
    assert await certificates.data(CA) == authority
    facts = read_certificate(second["tls.crt"])
    assert facts is not None
    assert facts.not_after > certificates.clock.now() + 300 * DAY


async def test_both_authorities_are_trusted_until_the_last_leaf_is_replaced(
    certificates: CertificateScenario,
) -> None:
    await certificates.reconcile()
    old_ca = (await certificates.data(CA))["ca.crt"]
    certificates.clock.advance(10 * YEAR - 29 * DAY)
    await certificates.reconcile()
    while True:
        leaf = await certificates.data(LEAF)
        new_ca = (await certificates.data(CA))["ca.crt"]
        trusted = split_bundle(leaf["ca.crt"])
        # At any time, a server with this bundle trusts a server with this leaf.
        assert any(is_signed_by(leaf["tls.crt"], one) for one in trusted)
        if is_signed_by(leaf["tls.crt"], new_ca):
            break
        certificates.clock.advance(await certificates.reconcile())
    assert new_ca != old_ca
    certificates.clock.advance(2 * DAY)
    await certificates.reconcile()
    assert split_bundle((await certificates.data(LEAF))["ca.crt"]) == (new_ca,)


async def test_servers_trust_a_new_authority_before_they_present_its_certificate(
    certificates: CertificateScenario,
) -> None:
    await certificates.reconcile()
    first = await certificates.data(LEAF)
    await certificates.client.delete(Ref(SECRET, Key(certificates.namespace, CA)), DeleteOptions())
    await certificates.reconcile()
    during = await certificates.data(LEAF)
    assert (during["tls.crt"], len(split_bundle(during["ca.crt"]))) == (first["tls.crt"], 2)
    assert certificates.renewals == 1
    certificates.clock.advance(2 * HOUR)
    await certificates.reconcile()
    assert (await certificates.data(LEAF))["tls.crt"] != first["tls.crt"]
    assert certificates.renewals == 2
    certificates.clock.advance(2 * HOUR)
    await certificates.reconcile()
    assert len(split_bundle((await certificates.data(LEAF))["ca.crt"])) == 1
    assert certificates.renewals == 2


async def test_servers_adopt_certificates_that_a_user_rotates(certificates: CertificateScenario) -> None:
    certificates.use_user_secret("own-tls")
    await certificates.reconcile()
    [condition] = certificates.reported.conditions
    assert (condition["status"], condition["reason"]) == ("False", "CertificatesMissing")
    steps = [
        ({"ca_crt": ONE_CA, "tls_crt": "leaf"}, "False", 0),
        ({"ca_crt": ONE_CA, "tls_crt": "leaf", "tls_key": "key"}, "True", 0),
        ({"ca_crt": ONE_CA + ANOTHER_CA, "tls_crt": "leaf", "tls_key": "key"}, "True", 1),
        ({"ca_crt": ONE_CA + ANOTHER_CA, "tls_crt": "another leaf", "tls_key": "key"}, "True", 2),
        ({"ca_crt": ANOTHER_CA, "tls_crt": "another leaf", "tls_key": "key"}, "True", 2),
        ({"ca_crt": ANOTHER_CA, "tls_crt": "a third leaf", "tls_key": "key"}, "True", 3),
    ]
    for data, status, renewals in steps:
        await certificates.write_user_secret("own-tls", **data)
        await certificates.reconcile()
        [condition] = certificates.reported.conditions
        assert (condition["status"], certificates.renewals) == (status, renewals), data


@pytest.mark.parametrize("name", [CA, LEAF])
async def test_a_deleted_secret_comes_back(certificates: CertificateScenario, name: str) -> None:
    await certificates.reconcile()
    await certificates.client.delete(Ref(SECRET, Key(certificates.namespace, name)), DeleteOptions())
    await certificates.reconcile()
    assert await certificates.data(name)


@pytest.mark.parametrize(
    ("name", "key"), [(CA, "ca.key"), (CA, "ca.crt"), (LEAF, "tls.crt"), (LEAF, "tls.key"), (LEAF, "ca.crt")]
)
async def test_a_corrupted_secret_heals(certificates: CertificateScenario, name: str, key: str) -> None:
    await certificates.reconcile()
    broken = MergePatch({"data": {key: base64.b64encode(b"rubbish").decode()}})
    await certificates.client.patch(Ref(SECRET, Key(certificates.namespace, name)), broken)
    await certificates.reconcile()
    leaf = await certificates.data(LEAF)
    assert (await certificates.data(name))[key] != b"rubbish"
    assert any(is_signed_by(leaf["tls.crt"], one) for one in split_bundle(leaf["ca.crt"]))


@pytest.mark.parametrize("years", [30, -30], ids=["ahead", "behind"])
async def test_a_temporarily_wrong_clock_leaves_valid_certificates(
    certificates: CertificateScenario, years: int
) -> None:
    await certificates.reconcile()
    certificates.clock.jump(years * YEAR)
    await certificates.reconcile()
    certificates.clock.jump(-years * YEAR)
    await certificates.reconcile()
    certificates.clock.advance(2 * DAY)
    await certificates.reconcile()
    facts = read_certificate((await certificates.data(LEAF))["tls.crt"])
    assert facts is not None
    assert facts.not_before <= certificates.clock.now() < facts.not_after
    [condition] = certificates.reported.conditions
    assert condition["status"] == "True"


async def test_certificate_names_the_pod_that_serves_the_repository_to_several_cells(
    certificates: CertificateScenario,
) -> None:
    await certificates.reconcile()
    shard = certificates.shards[certificates.key]
    pools = {"main": Pool(cells=["z1", "z2"], replicas_per_cell=1)}
    spec = msgspec.structs.replace(shard.spec, pools=pools, objects_version=NEWEST)
    certificates.shards[certificates.key] = msgspec.structs.replace(shard, spec=spec)
    host = repository_address(shard_path(shard), certificates.namespace)
    for expected in (False, True):
        facts = read_certificate((await certificates.data(LEAF))["tls.crt"])
        assert facts is not None
        assert (host in facts.dns_names) is expected
        await certificates.reconcile()


async def test_an_edit_that_does_not_concern_the_certificate_is_confirmed_without_waiting_for_a_check(
    certificates: CertificateScenario,
) -> None:
    await certificates.reconcile()
    assert certificates.reported.confirmed == []
    await certificates.reconcile()
    shard = certificates.shards[certificates.key]
    assert certificates.reported.confirmed == [shard.metadata.generation]
    spec = msgspec.structs.replace(shard.spec, pools={"other": Pool(cells=["z2"], replicas_per_cell=1)})
    certificates.shards[certificates.key] = msgspec.structs.replace(shard, spec=spec)
    await certificates.reconcile()
    assert len(certificates.reported.confirmed) == 1
