import stat
import subprocess
import sys

import pytest

from steward.certificates.errors import CertificateError
from steward.certificates.self_signed import write_self_signed
from steward.certificates.x509 import is_signed_by, read_pair


def test_the_certificate_has_the_names_and_a_private_key_file(tmp_path):
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    write_self_signed(certificate, key, ("pod-1", "localhost"))
    facts = read_pair(certificate.read_bytes(), key.read_bytes())
    assert (facts.common_name, facts.dns_names) == ("pod-1", {"pod-1", "localhost"})
    assert is_signed_by(certificate.read_bytes(), certificate.read_bytes())
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_directory_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(CertificateError, match="cannot make a self-signed certificate"):
        write_self_signed(tmp_path / "none" / "tls.crt", tmp_path / "none" / "tls.key", ("a",))


def test_the_calling_process_does_not_load_cryptography(tmp_path):
    program = (
        "import pathlib, sys\n"
        "from steward.certificates.self_signed import write_self_signed\n"
        f"directory = pathlib.Path({str(tmp_path)!r})\n"
        "write_self_signed(directory / 'tls.crt', directory / 'tls.key', ('a',))\n"
        "assert 'cryptography' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
