"""The certificate keeper against a real API server."""

import asyncio
import base64
from dataclasses import replace

import pytest

from steward.admission.certificate_source import CertificateStrategy, find_strategy
from steward.certificates.authority import Usage
from steward.certificates.errors import CertificateError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import DAY, HOUR, CertificateOwner, KeeperOptions, Leaf, Lifetimes
from steward.certificates.secret_store import CertificateSecrets
from steward.certificates.x509 import is_signed_by, read_pair, split_bundle
from steward.kube.client.client import connect
from steward.kube.client.deployments import find_deployment
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.errors import KubeError, NotFound
from steward.kube.objects.kinds import DEPLOYMENT, SECRET, Key, Ref
from steward.kube.objects.options import DeleteOptions
from steward.testkit import Answer, AuditLog, Drop, FakeClock, FaultProxy, HoldReply, LoseReply, Match, Rule

LEAF = Leaf("tls", service="web")


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def options(namespace):
    return KeeperOptions(namespace, "ca", (LEAF,))


@pytest.fixture
def keeper(client, options, clock):
    return CertificateKeeper(client, options, clock)


@pytest.fixture
async def proxied(control_plane):
    """A fault proxy and a client behind it."""
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        client = await connect(load_settings(ConfigSource(kubeconfig=str(proxy.kubeconfig))))
        yield proxy, client
        await client.close()


async def data_of(client, namespace, name):
    secret = await client.get(SECRET, Key(namespace, name))
    return {key: base64.b64decode(value) for key, value in secret["data"].items()}


async def change(client, namespace, name, **changes):
    secret = await client.get(SECRET, Key(namespace, name))
    await client.replace({**secret, **changes})


async def version_of(client, namespace, name):
    return (await client.get(SECRET, Key(namespace, name)))["metadata"]["resourceVersion"]


async def test_the_first_check_makes_an_authority_and_a_leaf_in_secrets_of_their_own(
    keeper, client, namespace
):
    assert "not been checked" in keeper.problem()
    kept = await keeper.check()
    assert keeper.problem() == ""
    ca, tls = [await data_of(client, namespace, name) for name in ("ca", "tls")]
    assert (set(ca), set(tls)) == ({"ca.crt", "ca.key"}, {"ca.crt", "tls.crt", "tls.key"})
    assert ca["ca.key"] not in tls.values()
    assert kept.bundle == ca["ca.crt"] == tls["ca.crt"]
    assert is_signed_by(tls["tls.crt"], ca["ca.crt"])
    assert kept.leaves["tls"].certificate == tls["tls.crt"]
    assert kept.next_check == HOUR


async def test_a_check_that_finds_nothing_due_writes_nothing(keeper, client, namespace, control_plane):
    await keeper.check()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    await keeper.check()
    assert not (await audit.calls_since(mark)).matching(Match(namespace=namespace, write=True))


async def test_many_replicas_that_start_at_once_end_with_one_authority(client, options, clock, namespace):
    keepers = [CertificateKeeper(client, options, clock) for _ in range(6)]
    kept = await asyncio.gather(*(keeper.check() for keeper in keepers))
    ca = await data_of(client, namespace, "ca")
    assert {one.bundle for one in kept} == {ca["ca.crt"]}
    assert len({one.leaves["tls"] for one in kept}) == 1


async def test_many_replicas_that_renew_at_once_renew_once(client, options, clock, namespace):
    announced = []
    options = replace(options, announce=announced.append)
    keepers = [CertificateKeeper(client, options, clock) for _ in range(5)]
    await keepers[0].check()
    announced.clear()
    clock.advance(340 * DAY)
    await asyncio.gather(*(keeper.check() for keeper in keepers))
    assert [one.message for one in announced] == [
        "signed a new certificate in Secret tls: it was about to expire"
    ]


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("ca", {"data": {}}),
        ("ca", {"data": {"ca.crt": "anVuaw==", "ca.key": "anVuaw=="}}),
        ("tls", {"data": {"tls.crt": "anVuaw==", "tls.key": "anVuaw=="}}),
    ],
)
async def test_a_corrupt_secret_is_renewed(keeper, client, namespace, name, broken):
    await keeper.check()
    await change(client, namespace, name, **broken)
    await keeper.check()
    ca, tls = [await data_of(client, namespace, one) for one in ("ca", "tls")]
    assert read_pair(ca["ca.crt"], ca["ca.key"]) is not None
    assert read_pair(tls["tls.crt"], tls["tls.key"]) is not None
    assert any(is_signed_by(tls["tls.crt"], one) for one in split_bundle(tls["ca.crt"]))


async def test_an_immutable_secret_that_must_change_is_deleted_and_created_again(
    keeper, client, clock, namespace
):
    await keeper.check()
    await change(client, namespace, "tls", immutable=True)
    before = await data_of(client, namespace, "tls")
    clock.advance(340 * DAY)
    await keeper.check()
    assert (await data_of(client, namespace, "tls"))["tls.crt"] != before["tls.crt"]


async def test_deleted_secrets_are_created_again(keeper, client, namespace):
    await keeper.check()
    for name in ("ca", "tls"):
        await client.delete(Ref(SECRET, Key(namespace, name)))
    await keeper.check()
    tls = await data_of(client, namespace, "tls")
    assert is_signed_by(tls["tls.crt"], (await data_of(client, namespace, "ca"))["ca.crt"])


async def test_new_names_are_signed_at_once(keeper, client, options, clock, namespace):
    await keeper.check()
    usages = (Usage.SERVER, Usage.CLIENT)
    wider = replace(options, leaves=(replace(LEAF, dns_names=("*.pods",), usages=usages),))
    await CertificateKeeper(client, wider, clock).check()
    tls = await data_of(client, namespace, "tls")
    facts = read_pair(tls["tls.crt"], tls["tls.key"])
    assert ("*.pods" in facts.dns_names, facts.usages) == (True, set(usages))


async def test_one_authority_signs_several_leaves(client, options, clock, namespace):
    leaves = tuple(Leaf(f"pool-{number}", dns_names=(f"pool-{number}",)) for number in range(3))
    kept = await CertificateKeeper(client, replace(options, leaves=leaves), clock).check()
    for leaf in leaves:
        data = await data_of(client, namespace, leaf.secret)
        assert is_signed_by(data["tls.crt"], kept.bundle)
        assert read_pair(data["tls.crt"], data["tls.key"]).dns_names == {leaf.secret}


@pytest.fixture
async def expiring(client, options, clock, namespace):
    """Secrets of an authority that is valid for 29 days."""
    short = replace(options, lifetimes=Lifetimes(authority=29 * DAY, renew_before=DAY))
    await CertificateKeeper(client, short, clock).check()
    return await data_of(client, namespace, "ca")


async def test_an_expiring_authority_is_replaced_in_three_steps(keeper, client, clock, namespace, expiring):
    old_leaf = await data_of(client, namespace, "tls")
    kept = await keeper.check()
    new, old = split_bundle(kept.bundle)
    assert (old, kept.next_check) == (expiring["ca.crt"], HOUR)
    leaf = await data_of(client, namespace, "tls")
    assert (leaf["tls.crt"], leaf["ca.crt"]) == (old_leaf["tls.crt"], kept.bundle)
    clock.advance(HOUR)
    await keeper.check()
    moved = await data_of(client, namespace, "tls")
    assert is_signed_by(moved["tls.crt"], new)
    assert moved["ca.crt"] == kept.bundle
    clock.advance(HOUR)
    assert (await keeper.check()).bundle == new
    final = await data_of(client, namespace, "tls")
    assert (final["tls.crt"], final["ca.crt"]) == (moved["tls.crt"], new)
    assert set(await data_of(client, namespace, "ca")) == {"ca.crt", "ca.key"}


@pytest.fixture
async def deployment(client, namespace):
    labels = {"app": "operator"}
    container = {"name": "c", "image": "i"}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "operator", "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    await client.create(manifest)
    found = await find_deployment(client, namespace, labels)
    return CertificateOwner(found.api_version, found.kind, found.name, found.uid)


async def test_the_secrets_are_owned_by_the_deployment_and_deleted_with_it(
    client, options, clock, namespace, deployment
):
    labels = {"app.kubernetes.io/managed-by": "operator"}
    owned = replace(options, owner=deployment, labels=labels)
    await CertificateKeeper(client, owned, clock).check()
    for name in ("ca", "tls"):
        metadata = (await client.get(SECRET, Key(namespace, name)))["metadata"]
        assert [owner["uid"] for owner in metadata["ownerReferences"]] == [deployment.uid]
        assert metadata["labels"] == labels
    which = Ref(DEPLOYMENT, Key(namespace, "operator"))
    await client.delete(which, DeleteOptions(uid=deployment.uid, propagation="Background"))
    async with asyncio.timeout(120):
        for name in ("ca", "tls"):
            await wait_until_gone(client, Key(namespace, name))


async def wait_until_gone(client, key):
    try:
        while True:
            await client.get(SECRET, key)
            await asyncio.sleep(0.05)
    except NotFound:
        return


async def test_secrets_that_lost_their_owner_or_labels_get_them_back(
    client, options, clock, namespace, deployment
):
    await CertificateKeeper(client, options, clock).check()
    before = await data_of(client, namespace, "tls")
    owned = replace(options, owner=deployment, labels={"a": "b"})
    await CertificateKeeper(client, owned, clock).check()
    secret = await client.get(SECRET, Key(namespace, "tls"))
    assert secret["metadata"]["ownerReferences"][0]["uid"] == deployment.uid
    assert await data_of(client, namespace, "tls") == before
    reborn = replace(owned, owner=replace(deployment, uid="5d3c2a86-0000-4000-8000-000000000000"))
    secrets = CertificateSecrets(client, reborn)
    assert not secrets.has_ownership(await secrets.read("tls"))


async def test_a_secret_of_cert_manager_is_never_overwritten(keeper, client, namespace, tmp_path, options):
    annotations = {"cert-manager.io/certificate-name": "web"}
    metadata = {"name": "tls", "namespace": namespace, "annotations": annotations}
    content = {"tls.crt": "", "tls.key": ""}
    await client.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata,
            "data": content,
            "type": "kubernetes.io/tls",
        }
    )
    with pytest.raises(CertificateError, match=f"Secret {namespace}/tls belongs to cert-manager"):
        await keeper.check()
    for file in ("tls.crt", "tls.key"):
        (tmp_path / file).touch()
    assert await find_strategy(client, options, LEAF, tmp_path) is CertificateStrategy.MOUNTED


async def test_our_own_secrets_are_recognised_when_they_are_mounted(keeper, client, tmp_path, options):
    await keeper.check()
    for file in ("tls.crt", "tls.key"):
        (tmp_path / file).touch()
    assert await find_strategy(client, options, LEAF, tmp_path) is CertificateStrategy.SELF_SIGNED


async def test_the_check_waits_for_the_kubelet(client, options, clock, namespace, tmp_path):
    projected = replace(options, leaves=(replace(LEAF, directory=tmp_path),))
    checking = asyncio.create_task(CertificateKeeper(client, projected, clock).check())
    await clock.until_asleep()
    tls = await data_of(client, namespace, "tls")
    assert not checking.done()
    for file in ("tls.crt", "tls.key"):
        (tmp_path / file).write_bytes(tls[file])
    clock.advance(0.1)
    assert (await checking).leaves["tls"].certificate == tls["tls.crt"]


async def test_the_keeper_continues_checking_after_failures(proxied, namespace, options, clock):
    proxy, client = proxied
    refused = proxy.add(Rule(Match(verb="create", resource="secrets"), Answer(403, message="no rights")))
    keeper = CertificateKeeper(client, options, clock, chance=lambda: 0.0)
    await keeper.start()
    await clock.until_asleep()
    assert keeper.problem() == "the cert certificates could not be checked: no rights"
    proxy.remove(refused)
    clock.advance(1)
    await clock.until_asleep()
    assert keeper.problem() == ""
    first = await data_of(client, namespace, "tls")
    clock.jump(340 * DAY)
    clock.advance(HOUR)
    await clock.until_asleep()
    assert (await data_of(client, namespace, "tls"))["tls.crt"] != first["tls.crt"]
    await keeper.stop()
    await keeper.stop()
    assert clock.sleepers == 0


@pytest.mark.parametrize("name", ["ca", "tls"])
async def test_a_deleted_or_corrupted_secret_is_renewed_without_waiting_for_the_next_check(
    client, options, namespace, name
):
    keeper = CertificateKeeper(client, options)
    await keeper.start()
    try:
        await wait_until_valid(client, namespace)
        await client.delete(Ref(SECRET, Key(namespace, name)))
        await wait_until_valid(client, namespace)
        await change(client, namespace, name, data={"tls.crt": "anVuaw==", "tls.key": "anVuaw=="})
        await wait_until_valid(client, namespace)
    finally:
        await keeper.stop()


async def wait_until_valid(client, namespace):
    async with asyncio.timeout(120):
        while not await is_valid(client, namespace):
            await asyncio.sleep(0.05)


async def is_valid(client, namespace):
    try:
        ca, tls = [await data_of(client, namespace, name) for name in ("ca", "tls")]
    except NotFound:
        return False
    if not ca.get("ca.key") or read_pair(tls["tls.crt"], tls["tls.key"]) is None:
        return False
    return any(
        is_signed_by(tls["tls.crt"], one) for one in split_bundle(ca["ca.crt"] + ca.get("previous.crt", b""))
    )


async def test_a_stopping_keeper_lets_a_running_check_finish(proxied, options, clock):
    proxy, client = proxied
    held = proxy.add(Rule(Match(verb="create", resource="secrets"), HoldReply(), first=2))
    keeper = CertificateKeeper(client, options, clock)
    await keeper.start()
    await held.held.wait()
    stopping = asyncio.create_task(keeper.stop())
    await asyncio.sleep(0)
    proxy.remove(held)
    await stopping
    assert keeper.problem() == ""


@pytest.mark.parametrize(
    "fault", [Drop(), LoseReply(), Answer(503)], ids=["dropped", "committed unheard", "503"]
)
@pytest.mark.parametrize("nth", [1, 2])
async def test_a_check_that_is_interrupted_at_any_write_is_completed_by_the_next(
    proxied, namespace, options, fault, nth
):
    proxy, client = proxied
    rule = proxy.add(Rule(Match(write=True, resource="secrets"), fault, first=nth, count=1))
    keeper = CertificateKeeper(client, options)
    with pytest.raises(KubeError):
        await keeper.check()
    kept = await keeper.check()
    assert rule.hits == 1
    ca, tls = [await data_of(client, namespace, name) for name in ("ca", "tls")]
    assert kept.bundle == ca["ca.crt"] == tls["ca.crt"]
    assert is_signed_by(tls["tls.crt"], ca["ca.crt"])
