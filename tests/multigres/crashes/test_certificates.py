"""Certificates of the backup service are made and rotated although their keeper is killed at every write."""

import asyncio
from itertools import cycle

from steward.certificates.x509 import is_signed_by, split_bundle
from steward.kube.client.client import client_over
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.options import DeleteOptions
from steward.kube.transport.transport import Transport
from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog, Match, Moment, WriteMoment
from steward.testkit.crash_in_process import Fate, MortalTransport
from tests.multigres.controllers.test_certificates import CA, HOUR, LEAF, Scene, scene

__all__ = ["scene"]
MOST_LIVES = 20


class Lives:
    """Keepers that know nothing of each other, each of which dies at its first write."""

    def __init__(self, control_plane: ControlPlane, scene: Scene) -> None:
        self.settings = load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig)))
        self.scene = scene
        self.moments = cycle(Moment)

    async def look(self) -> int:
        """How many died before one had nothing left to write."""
        for lives in range(MOST_LIVES):
            if await self._one_life():
                return lives
        raise AssertionError(f"the keepers still write after {MOST_LIVES} lives")

    async def _one_life(self) -> bool:
        fate = Fate(WriteMoment(1, next(self.moments), Match(write=True, namespace=self.scene.namespace)))
        transport = MortalTransport(Transport(self.settings), fate)
        client = client_over(transport, self.settings, self.scene.clock)
        heir = Scene(client, self.scene.shards[self.scene.key], self.scene.clock)
        look, death = asyncio.ensure_future(heir.look()), asyncio.ensure_future(fate.met.wait())
        await asyncio.wait((look, death), return_when=asyncio.FIRST_COMPLETED)
        is_through = look.done()
        for task in (look, death):
            task.cancel()
        await asyncio.gather(look, death, *fate.under_way, return_exceptions=True)
        await client.close()
        self.scene.shards[self.scene.key] = heir.shards[self.scene.key]
        return is_through


async def test_making_and_rotating_survive_a_kill_at_every_write(
    control_plane: ControlPlane, scene: Scene
) -> None:
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = await audit.mark()
    lives = Lives(control_plane, scene)
    assert await lives.look() >= 2 * 2, "the authority and the certificate each end two lives"
    first = await scene.data(LEAF)
    await scene.client.delete(Ref(SECRET, Key(scene.namespace, CA)), DeleteOptions())
    assert await lives.look() >= 3, "a new authority, and the certificate that is trusted beside it"
    during = await scene.data(LEAF)
    assert (during["tls.crt"], len(split_bundle(during["ca.crt"]))) == (first["tls.crt"], 2)
    scene.clock.advance(2 * HOUR)
    assert await lives.look() >= 1
    after = await scene.data(LEAF)
    assert is_signed_by(after["tls.crt"], (await scene.data(CA))["ca.crt"])
    scene.clock.advance(2 * HOUR)
    await lives.look()
    assert len(split_bundle((await scene.data(LEAF))["ca.crt"])) == 1
    assert scene.renewals == 2, "as often as in one life"
    made = [each for each in (await audit.calls_since(mark)).writes() if each.code == 201]
    secrets = [each.call.name for each in made if each.call.namespace == scene.namespace]
    assert sorted(secrets) == [CA, CA, LEAF], "once each, and once more after the deletion"
