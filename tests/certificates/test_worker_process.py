"""Certificate functions give the same results in a subprocess."""

import asyncio
import os
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from steward.certificates import renewal, worker_process
from steward.certificates.authority import KeyPair, Subject, Validity, make_authority
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.options import KeeperOptions, Leaf
from steward.certificates.renewal import RenewalContext
from steward.certificates.worker_process import SharedCertificateWorker, in_subprocess, in_this_process
from steward.certificates.x509 import read_pair

LEAF = Leaf("tls", service="web")
NOW = RenewalContext(KeeperOptions("shop", "ca", (LEAF,)).without_callbacks(), 1_800_000_000.0)


@pytest.mark.parametrize("worker", [in_this_process, in_subprocess])
async def test_an_authority_and_its_leaf_are_made_and_then_not_changed(worker):
    async with worker() as call:
        made = await call(renewal.decide_authority, None, [None], NOW)
        leaf = await call(renewal.decide_leaf, LEAF, None, made.authority, NOW)
        again = await call(renewal.decide_authority, made.authority.data(), [leaf.data], NOW)
        kept = await call(renewal.decide_leaf, LEAF, leaf.data, made.authority, NOW)
    assert (made.is_new, again.is_new, again.is_changed) == (True, False, False)
    assert read_pair(leaf.data["tls.crt"], leaf.data["tls.key"]).dns_names == {
        "web.shop.svc",
        "web.shop.svc.cluster.local",
    }
    assert kept == (leaf.data, None)


async def test_an_error_of_the_subprocess_is_raised_as_itself():
    authority = make_authority(Subject("ca", ("tests",)), Validity(0, 4_000_000_000))
    other = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    broken = renewal.Authority(KeyPair(authority.certificate, other), read_pair(*authority))
    async with in_subprocess() as call:
        with pytest.raises(UnusableCertificateError, match="neither ECDSA nor RSA"):
            await call(renewal.signed_leaf_data, LEAF, broken, NOW)


def test_the_subprocess_loads_no_asyncio():
    program = (
        "import sys\n"
        "from steward.certificates import renewal, served_calls\n"
        "from cryptography import x509\n"
        "assert 'asyncio' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


async def test_a_subprocess_that_exits_late_is_no_error(monkeypatch):
    async def exits_late(child):
        await child.wait()
        return False

    monkeypatch.setattr(worker_process, "_has_exited", exits_late)
    async with in_subprocess() as call:
        assert await call(renewal.read_authority, {"ca.crt": b"", "ca.key": b""}) is None


def test_a_keeper_with_a_subprocess_never_loads_cryptography():
    program = (
        "import asyncio, sys\n"
        "from steward.certificates import renewal\n"
        "from steward.certificates.worker_process import in_subprocess\n"
        "async def main():\n"
        "    async with in_subprocess() as call:\n"
        "        assert await call(renewal.read_authority, {'ca.crt': b'', 'ca.key': b''}) is None\n"
        "asyncio.run(main())\n"
        "assert 'cryptography' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


async def wait_ended(worker: SharedCertificateWorker) -> None:
    async with asyncio.timeout(60):
        while worker._delayed_exit is not None or worker._child is not None:
            await asyncio.sleep(0.01)


async def test_users_share_one_subprocess():
    worker = SharedCertificateWorker()
    async with worker() as first, worker() as second:
        one, other = await asyncio.gather(first(os.getpid), second(os.getpid))
    async with worker() as later:
        again = await later(os.getpid)
    await worker.stop()
    assert one == other == again != os.getpid()


async def test_the_subprocess_exits_after_the_last_user_and_the_next_one_starts_another():
    worker = SharedCertificateWorker(linger=0.0)
    async with worker() as call:
        first = await call(os.getpid)
    await wait_ended(worker)
    async with worker() as call:
        second = await call(os.getpid)
    await worker.stop()
    assert first != second


async def test_no_subprocess_is_started_before_the_first_call():
    worker = SharedCertificateWorker()
    async with worker():
        assert worker._child is None
    await worker.stop()


async def test_an_error_is_raised_as_itself_and_the_next_call_succeeds():
    worker = SharedCertificateWorker()
    async with worker() as call:
        with pytest.raises(ValueError, match="invalid literal"):
            await call(int, "no number")
        assert await call(len, "abc") == 3
    await worker.stop()


async def test_the_result_of_a_cancelled_call_is_not_given_to_the_next():
    worker = SharedCertificateWorker()
    async with worker() as call:
        assert await call(len, "abc") == 3
        asking = asyncio.create_task(call(sum, range(10_000_000)))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await call(len, "ab") == 2
    await worker.stop()
