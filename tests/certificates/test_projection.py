import asyncio
import stat
from types import SimpleNamespace

import pytest

from steward.certificates.authority import KeyPair
from steward.certificates.errors import ProjectionError
from steward.certificates.projection import wait_for_projection, write_leaf_files
from steward.testkit import FakeClock

PAIR = KeyPair(b"certificate", b"key")


async def test_the_wait_ends_when_the_files_are_the_secrets(tmp_path):
    clock = FakeClock()
    (tmp_path / "tls.crt").write_bytes(b"old")
    waiting = asyncio.create_task(wait_for_projection(tmp_path, PAIR, clock))
    await clock.pass_time(5)
    assert not waiting.done()
    (tmp_path / "tls.crt").write_bytes(PAIR.certificate)
    (tmp_path / "tls.key").write_bytes(PAIR.key)
    await clock.pass_time(0.1)
    await waiting


async def test_a_missing_projection_is_an_error_with_the_cure(tmp_path):
    clock = FakeClock()
    waiting = asyncio.create_task(wait_for_projection(tmp_path, PAIR, clock))
    await clock.pass_time(121)
    with pytest.raises(ProjectionError, match="after 120 s: is the Secret mounted there"):
        await waiting


async def test_outside_a_cluster_the_files_are_written_and_private(tmp_path):
    hook = write_leaf_files("tls", tmp_path / "certs")
    await hook(SimpleNamespace(leaves={}))
    assert not (tmp_path / "certs").exists()
    await hook(SimpleNamespace(leaves={"tls": PAIR}))
    key = tmp_path / "certs" / "tls.key"
    assert key.read_bytes() == b"key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.stat().st_mtime_ns
    await hook(SimpleNamespace(leaves={"tls": PAIR}))
    assert key.stat().st_mtime_ns == before
    assert sorted(file.name for file in key.parent.iterdir()) == ["tls.crt", "tls.key"]
