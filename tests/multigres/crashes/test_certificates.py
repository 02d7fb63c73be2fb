"""Certificates of the backup service are issued and rotated although the operator crashes at every write."""

import asyncio
from itertools import cycle

from steward.certificates.x509 import is_signed_by, split_bundle
from steward.kube.client.client import client_with_transport
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.options import DeleteOptions
from steward.kube.transport.transport import Transport
from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog, CrashPoint, CrashTiming, Match
from steward.testkit.crash_in_process import CrashingTransport, CrashState
from tests.multigres.support.certificates import CA, HOUR, LEAF, CertificateScenario

MAX_PROCESSES = 20


class Lives:
    """Keepers that know nothing of each other, each of which dies at its first write."""

    def __init__(self, control_plane: ControlPlane, certificates: CertificateScenario) -> None:
        self.settings = load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig)))
        self.certificates = certificates
        self.moments = cycle(CrashTiming)

    async def reconcile(self) -> int:
        """How many died before one had nothing left to write."""
        for crash_until in range(MAX_PROCESSES):
            if await self._one_life():
                return crash_until
        raise AssertionError(f"the keepers still write after {MAX_PROCESSES} lives")

    async def _one_life(self) -> bool:
        fate = CrashState(
            CrashPoint(1, next(self.moments), Match(write=True, namespace=self.certificates.namespace))
        )
        transport = CrashingTransport(Transport(self.settings), fate)
        client = client_with_transport(transport, self.settings, self.certificates.clock)
        heir = CertificateScenario(
            client, self.certificates.shards[self.certificates.key], self.certificates.clock
        )
        reconcile, death = asyncio.ensure_future(heir.reconcile()), asyncio.ensure_future(fate.crashed.wait())
        await asyncio.wait((reconcile, death), return_when=asyncio.FIRST_COMPLETED)
        is_through = reconcile.done()
        for task in (reconcile, death):
            task.cancel()
        await asyncio.gather(reconcile, death, *fate.pending_writes, return_exceptions=True)
        await client.close()
        self.certificates.shards[self.certificates.key] = heir.shards[self.certificates.key]
        return is_through


async def test_issuing_and_rotating_certificates_survives_a_crash_at_every_write(
    control_plane: ControlPlane, certificates: CertificateScenario
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    crash_until = Lives(control_plane, certificates)
    assert await crash_until.reconcile() >= 2 * 2, "the authority and the certificate each end two lives"
    first = await certificates.data(LEAF)
    await certificates.client.delete(Ref(SECRET, Key(certificates.namespace, CA)), DeleteOptions())
    assert await crash_until.reconcile() >= 3, (
        "a new authority, and the certificate that is trusted beside it"
    )
    during = await certificates.data(LEAF)
    assert (during["tls.crt"], len(split_bundle(during["ca.crt"]))) == (first["tls.crt"], 2)
    certificates.clock.advance(2 * HOUR)
    assert await crash_until.reconcile() >= 1
    after = await certificates.data(LEAF)
    assert is_signed_by(after["tls.crt"], (await certificates.data(CA))["ca.crt"])
    certificates.clock.advance(2 * HOUR)
    await crash_until.reconcile()
    assert len(split_bundle((await certificates.data(LEAF))["ca.crt"])) == 1
    assert certificates.renewals == 2, "as often as in one life"
    made = [each for each in (await audit.calls_since(mark)).writes() if each.code == 201]
    here = [each.call for each in made if each.call.namespace == certificates.namespace]
    secrets = [call.name for call in here if call.resource == "secrets"]
    assert sorted(secrets) == [CA, CA, LEAF], "once each, and once more after the deletion"
