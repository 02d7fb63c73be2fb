import pytest

from steward.admission.certificate_source import Strategy, decide_strategy
from steward.certificates.secret_store import KeptSecret


def secret(**annotations):
    return KeptSecret({"metadata": {"annotations": annotations}})


PLAIN = secret()
OURS = secret(**{"cert-strategy": "self-signed"})
CERT_MANAGERS = secret(**{"cert-manager.io/certificate-name": "webhook"})


@pytest.mark.parametrize(
    ("files", "leaf", "authority", "strategy"),
    [
        (False, None, None, Strategy.SELF_SIGNED),
        (False, OURS, PLAIN, Strategy.SELF_SIGNED),
        (True, None, None, Strategy.MOUNTED),
        (True, PLAIN, None, Strategy.MOUNTED),
        (True, CERT_MANAGERS, None, Strategy.MOUNTED),
        (True, CERT_MANAGERS, PLAIN, Strategy.MOUNTED),
        (True, OURS, None, Strategy.SELF_SIGNED),
        (True, PLAIN, PLAIN, Strategy.SELF_SIGNED),
    ],
)
def test_mounted_files_are_used_unless_they_can_only_be_ours(files, leaf, authority, strategy):
    assert decide_strategy(files_are_there=files, leaf=leaf, authority=authority) is strategy
