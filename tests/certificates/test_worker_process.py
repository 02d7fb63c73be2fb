"""Decisions about certificates made in another process are the same decisions."""

import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from steward.certificates import renewal
from steward.certificates.authority import KeyPair, Subject, Validity, make_authority
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.options import KeeperOptions, Leaf
from steward.certificates.renewal import Moment
from steward.certificates.worker_process import in_another_process, in_this_process
from steward.certificates.x509 import read_pair

LEAF = Leaf("tls", service="web")
NOW = Moment(KeeperOptions("shop", "ca", (LEAF,)).plain(), 1_800_000_000.0)


@pytest.mark.parametrize("notary", [in_this_process, in_another_process])
async def test_an_authority_and_its_leaf_are_made_and_then_left_alone(notary):
    async with notary() as decide:
        made = await decide(renewal.authority_duty, None, [None], NOW)
        leaf = await decide(renewal.leaf_duty, LEAF, None, made.authority, NOW)
        again = await decide(renewal.authority_duty, made.authority.data(), [leaf.data], NOW)
        kept = await decide(renewal.leaf_duty, LEAF, leaf.data, made.authority, NOW)
    assert (made.is_new, again.is_new, again.is_changed) == (True, False, False)
    assert read_pair(leaf.data["tls.crt"], leaf.data["tls.key"]).dns_names == {
        "web.shop.svc",
        "web.shop.svc.cluster.local",
    }
    assert kept == (leaf.data, None)


async def test_an_error_of_the_other_process_arrives_as_itself():
    authority = make_authority(Subject("ca", "tests"), Validity(0, 4_000_000_000))
    other = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    broken = renewal.Authority(KeyPair(authority.certificate, other), read_pair(*authority))
    async with in_another_process() as decide:
        with pytest.raises(UnusableCertificateError, match="neither ECDSA nor RSA"):
            await decide(renewal.signed, LEAF, broken, NOW)


def test_a_keeper_that_decides_elsewhere_never_loads_the_library():
    program = (
        "import asyncio, sys\n"
        "from steward.certificates import renewal\n"
        "from steward.certificates.worker_process import in_another_process\n"
        "async def main():\n"
        "    async with in_another_process() as decide:\n"
        "        assert await decide(renewal.read_authority, {'ca.crt': b'', 'ca.key': b''}) is None\n"
        "asyncio.run(main())\n"
        "assert 'cryptography' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
