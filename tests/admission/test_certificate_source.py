import pytest

from steward.admission.certificate_source import CertificateStrategy, decide_strategy
from steward.certificates.secret_store import CertificateSecret


def secret(**annotations):
    return CertificateSecret({"metadata": {"annotations": annotations}})


PLAIN = secret()
OURS = secret(**{"cert-strategy": "self-signed"})
CERT_MANAGERS = secret(**{"cert-manager.io/certificate-name": "webhook"})


@pytest.mark.parametrize(
    ("files", "leaf", "authority", "strategy"),
    [
        (False, None, None, CertificateStrategy.SELF_SIGNED),
        (False, OURS, PLAIN, CertificateStrategy.SELF_SIGNED),
        (True, None, None, CertificateStrategy.MOUNTED),
        (True, PLAIN, None, CertificateStrategy.MOUNTED),
        (True, CERT_MANAGERS, None, CertificateStrategy.MOUNTED),
        (True, CERT_MANAGERS, PLAIN, CertificateStrategy.MOUNTED),
        (True, OURS, None, CertificateStrategy.SELF_SIGNED),
        (True, PLAIN, PLAIN, CertificateStrategy.SELF_SIGNED),
    ],
)
def test_mounted_files_are_used_unless_the_operator_made_them(files, leaf, authority, strategy):
    assert decide_strategy(files_are_there=files, leaf=leaf, authority=authority) is strategy
