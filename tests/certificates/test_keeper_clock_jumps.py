"""The wall clock jumps: certificates stay valid, and each jump costs at most one renewal of each certificate."""

from typing import Any

import pytest

from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import DAY, HOUR, Announcement, KeeperOptions, Leaf
from steward.certificates.x509 import read_certificate, split_bundle
from steward.kube.client.client import Client
from steward.testkit import FakeClock

CHECKS = 5


class JumpingKeeper:
    """Several replicas with one clock each, which check in turn."""

    def __init__(self, client: Client, namespace: str, clocks: int = 1) -> None:
        self.announced: list[str] = []
        options = KeeperOptions(
            namespace, "ca", (Leaf("tls", service="web"),), announce=self._record_announcement
        )
        self.clocks = [FakeClock() for _ in range(clocks)]
        self.keepers = [CertificateKeeper(client, options, clock) for clock in self.clocks]

    def _record_announcement(self, announcement: Announcement) -> None:
        if announcement.reason in ("AuthorityCreated", "CertificateIssued"):
            self.announced.append(announcement.message)

    async def renewals(self) -> int:
        """Renewals in several rounds of checks, after which every replica has a valid certificate."""
        self.announced.clear()
        state: Any = None
        for _ in range(CHECKS):
            for keeper in self.keepers:
                state = await keeper.check()
        for clock in self.clocks:
            for pem in (state.leaves["tls"].certificate, split_bundle(state.bundle)[0]):
                facts = read_certificate(pem)
                assert facts is not None
                assert facts.not_before <= clock.now() < facts.not_after
        return len(self.announced)


@pytest.mark.parametrize("jump", [5000 * DAY, -5000 * DAY, -2 * HOUR, 2 * HOUR])
async def test_a_jump_and_its_correction_cost_one_renewal_each(
    client: Client, namespace: str, jump: float
) -> None:
    keeper = JumpingKeeper(client, namespace)
    assert await keeper.renewals() == 2, "an authority and a leaf"
    keeper.clocks[0].jump(jump)
    assert await keeper.renewals() <= 2
    assert await keeper.renewals() == 0
    keeper.clocks[0].jump(-jump)
    assert await keeper.renewals() <= 2
    assert await keeper.renewals() == 0


async def test_a_small_step_back_renews_nothing(client: Client, namespace: str) -> None:
    """Certificates are valid from an hour before they were made."""
    keeper = JumpingKeeper(client, namespace)
    await keeper.renewals()
    keeper.clocks[0].jump(-HOUR / 2)
    assert await keeper.renewals() == 0


async def test_replicas_whose_clocks_differ_by_hours_agree_on_one_certificate(
    client: Client, namespace: str
) -> None:
    keeper = JumpingKeeper(client, namespace, clocks=2)
    keeper.clocks[1].jump(-6 * HOUR)
    assert await keeper.renewals() <= 4
    assert await keeper.renewals() == 0
