import asyncio

import pytest

from steward.certificates.errors import UnusableCertificateError
from steward.certificates.serving_certificate import ServingCertificate
from steward.testkit import FakeClock
from tests.certificates.support.leaves import write_leaf


def test_files_are_loaded_only_when_they_changed(cert_dir, authority):
    certificate = ServingCertificate(cert_dir)
    assert not certificate.is_loaded
    assert [certificate.reload(), certificate.reload()] == [True, False]
    write_leaf(cert_dir, authority)
    assert certificate.reload()


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("tls.key", None, "tls.key: No such file or directory; mount"),
        ("tls.crt", b"junk", "no certificate and its key"),
        ("tls.key", b"junk", "no certificate and its key"),
    ],
)
def test_files_that_cannot_be_used_are_named(cert_dir, file, content, sentence):
    if content is None:
        (cert_dir / file).unlink()
    else:
        (cert_dir / file).write_bytes(content)
    with pytest.raises(UnusableCertificateError, match=sentence):
        ServingCertificate(cert_dir).reload()


def test_a_certificate_with_the_wrong_key_is_not_used_and_the_old_pair_stays(cert_dir, authority):
    certificate = ServingCertificate(cert_dir)
    certificate.reload()
    old_key = (cert_dir / "tls.key").read_bytes()
    write_leaf(cert_dir, authority)
    (cert_dir / "tls.key").write_bytes(old_key)
    with pytest.raises(UnusableCertificateError):
        certificate.reload()
    write_leaf(cert_dir, authority)
    assert certificate.reload()


async def test_following_logs_an_error_once_and_recovers(cert_dir, authority, caplog):
    clock = FakeClock()
    certificate = ServingCertificate(cert_dir)
    certificate.reload()
    (cert_dir / "tls.crt").write_bytes(b"junk")
    following = asyncio.create_task(certificate.follow(clock))
    await clock.until_asleep()
    await clock.pass_time(20)
    assert len(caplog.messages) == 1
    assert "still serving the old certificate" in caplog.messages[0]
    write_leaf(cert_dir, authority)
    await clock.pass_time(5)
    assert not certificate.reload()
    following.cancel()


def test_files_that_the_kubelet_replaces_by_a_symlink_are_reloaded(tmp_path, authority):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_leaf(tmp_path / name, authority)
    (tmp_path / "..data").symlink_to("one")
    for file in ("tls.crt", "tls.key"):
        (tmp_path / file).symlink_to(f"..data/{file}")
    certificate = ServingCertificate(tmp_path)
    assert certificate.reload()
    (tmp_path / "..new").symlink_to("two")
    (tmp_path / "..new").replace(tmp_path / "..data")
    assert certificate.reload()
