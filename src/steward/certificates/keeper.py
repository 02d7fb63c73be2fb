"""The certificate keeper: an authority and the leaves that it signs, in Secrets, always valid.

It runs on every replica; each check reads, decides (`keeping`) and writes what is due, and the next one is planned for
when the next step is. It comes earlier when somebody touches one of the Secrets, or sets the clock. The order within a
check is what keeps calls alive: a new authority is made known (the hooks) before anything is signed by it.

    keeper = CertificateKeeper(client, KeeperOptions("shop", "shop-ca", (Leaf("shop-tls", service="webhook"),)))
    await keeper.check()          # once, from a reconcile: `next_check` of the answer says when to come again
    await keeper.start()          # or for ever, as a service of the manager

Its client must not be bound to the election: replicas that do not lead keep certificates, too.
"""

import asyncio
import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from steward.certificates import renewal
from steward.certificates.authority import KeyPair
from steward.certificates.errors import CertificateError
from steward.certificates.options import Announcement, KeeperOptions, Leaf
from steward.certificates.projection import await_projection
from steward.certificates.renewal import LEAF_CERTIFICATE, LEAF_KEY, Authority, Data, Moment
from steward.certificates.secret_store import KeptSecret, KeptSecrets, OutdatedError
from steward.certificates.secret_watch import SecretWatch
from steward.certificates.wall_clock_sleep import Woken, rest
from steward.certificates.worker_process import Decide, Notary, in_this_process
from steward.kube.client.client import Client
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import AlreadyExists, Conflict, KubeError

ATTEMPTS = 8
FIRST_RETRY = 1.0
LAST_RETRY = 60.0
JITTER = 0.1
STOP_SECONDS = 5.0
CALM_SECONDS = 1.0
"""A Secret that changes all the time costs one check in this time, and no more."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kept:
    """What a check leaves behind: all is valid, and will be until `next_check` seconds from now at least."""

    bundle: bytes
    leaves: Mapping[str, KeyPair]
    next_check: float


@dataclass
class _CurrentTrust:
    """What hooks get; see `keeper_options.Trust`."""

    bundle: bytes
    secrets: KeptSecrets
    ca_secret: str
    decide: Decide
    leaves: Mapping[str, KeyPair] = field(default_factory=dict)

    async def reread(self) -> bytes:
        secret = await self.secrets.read(self.ca_secret)
        authority = await self.decide(renewal.read_authority, secret.data if secret else None)
        if authority is None:
            raise OutdatedError(f"Secret {self.ca_secret} no longer holds an authority")
        return authority.bundle


class CertificateKeeper:
    def __init__(
        self,
        client: Client,
        options: KeeperOptions,
        clock: Clock | None = None,
        chance: Random = random.random,
        notary: Notary = in_this_process,
    ) -> None:
        self._options = options
        self._plain_options = options.plain()
        self._notary = notary
        self._client = client
        self._secrets = KeptSecrets(client, options)
        self._clock = clock or SystemClock()
        self._chance = chance
        self._task: asyncio.Task[None] | None = None
        self._checking = asyncio.Lock()
        self._problem = f"the {options.component} certificates have not been checked yet"

    @property
    def name(self) -> str:
        return f"{self._options.component} certificates"

    def problem(self) -> str:
        """Nothing once the certificates were found or made valid, else one sentence for the readiness probe."""
        return self._problem

    async def start(self) -> None:
        """Keep checking in the background."""
        self._task = asyncio.create_task(self.run(), name=self.name)

    async def stop(self) -> None:
        """Let the check in hand end, but do not wait long for it."""
        task, self._task = self._task, None
        if task is None:
            return
        try:
            async with asyncio.timeout(STOP_SECONDS), self._checking:
                task.cancel()
        except TimeoutError:
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def run(self) -> None:
        """Check for ever; what fails is logged and tried again, soon at first."""
        names = (self._options.ca_secret, *(leaf.secret for leaf in self._options.leaves))
        watch = SecretWatch(self._client, self._options.namespace, names)
        await watch.start()
        try:
            await self._keep_checking(watch)
        finally:
            await watch.stop()

    async def _keep_checking(self, watch: SecretWatch) -> None:
        retry = FIRST_RETRY
        while True:
            async with self._checking:
                wait = await self._seconds_after_check()
            watch.settled(self._secrets.versions)
            wait, retry = (retry, min(retry * 2, LAST_RETRY)) if wait is None else (wait, FIRST_RETRY)
            woken = await rest(self._clock, wait * (1 + JITTER * self._chance()), watch.has_news)
            if woken is Woken.BY_NEWS:
                await self._clock.sleep(CALM_SECONDS)

    async def _seconds_after_check(self) -> float | None:
        """Check once; when to come again, or None if it failed."""
        try:
            return (await self.check()).next_check
        except (KubeError, CertificateError) as error:
            log.warning("the %s could not be checked, trying again: %s", self.name, error)
            self._note_failure(error)
        except Exception as error:
            log.exception("checking the %s failed", self.name)
            self._note_failure(error)
        return None

    async def check(self) -> Kept:
        """Make everything valid that is not, and publish what is to be trusted."""
        for _ in range(ATTEMPTS):
            try:
                async with self._notary() as decide:
                    kept = await self._check_once(decide)
            except (AlreadyExists, Conflict, OutdatedError) as error:
                log.debug("another replica was faster: %s", error)
            else:
                self._problem = ""
                return kept
        raise CertificateError(f"the Secrets of the {self.name} change faster than they can be kept")

    async def _check_once(self, decide: Decide) -> Kept:
        secrets = {leaf.secret: await self._secrets.read(leaf.secret) for leaf in self._options.leaves}
        authority = await self._keep_authority(secrets, decide)
        pairs = await decide(
            renewal.read_pairs, {name: secret.data for name, secret in secrets.items() if secret}
        )
        trust = _CurrentTrust(authority.bundle, self._secrets, self._options.ca_secret, decide, pairs)
        for hook in self._options.hooks:
            await hook(trust)
        held = {
            leaf.secret: await self._keep_leaf(leaf, secrets[leaf.secret], authority, decide)
            for leaf in self._options.leaves
        }
        await self._settle(trust, held)
        next_check = await decide(
            renewal.seconds_to_next_check, authority, list(held.values()), self._moment()
        )
        return Kept(authority.bundle, trust.leaves, next_check)

    def _moment(self) -> Moment:
        return Moment(self._plain_options, self._clock.now())

    async def _settle(self, trust: _CurrentTrust, held: Mapping[str, Data]) -> None:
        """Tell the hooks of leaves that are new, and wait for the kubelet to bring them."""
        pairs = {name: KeyPair(data[LEAF_CERTIFICATE], data[LEAF_KEY]) for name, data in held.items()}
        if pairs != trust.leaves:
            trust.leaves = pairs
            for hook in self._options.hooks:
                await hook(trust)
        for leaf in self._options.leaves:
            if leaf.directory is not None:
                await await_projection(leaf.directory, pairs[leaf.secret], self._clock)

    async def _keep_authority(self, leaves: Mapping[str, KeptSecret | None], decide: Decide) -> Authority:
        name = self._options.ca_secret
        secret = await self._secrets.read(name)
        contents = [leaf.data if leaf else None for leaf in leaves.values()]
        duty = await decide(renewal.authority_duty, secret.data if secret else None, contents, self._moment())
        if duty.is_new:
            await self._secrets.write(name, duty.authority.data(), secret)
            self._announce(
                "AuthorityCreated", f"made a new certificate authority in Secret {name}: {duty.reason}"
            )
        elif duty.is_changed:
            await self._secrets.write(name, duty.authority.data(), secret)
            self._announce(
                "AuthorityRetired", f"every certificate is signed anew: the old authority of {name} is gone"
            )
        elif secret is not None and not self._secrets.is_ours(secret):
            await self._secrets.write(name, secret.data, secret)
        return duty.authority

    async def _keep_leaf(
        self, leaf: Leaf, secret: KeptSecret | None, authority: Authority, decide: Decide
    ) -> Data:
        data = secret.data if secret else None
        duty = await decide(renewal.leaf_duty, leaf, data, authority, self._moment())
        if duty.reason is not None:
            await self._secrets.write(leaf.secret, duty.data, secret)
            self._announce(
                "CertificateIssued", f"signed a new certificate in Secret {leaf.secret}: {duty.reason}"
            )
            return duty.data
        assert data is not None
        assert secret is not None
        if data != {**data, **duty.data} or not self._secrets.is_ours(secret):
            await self._secrets.write(leaf.secret, {**data, **duty.data}, secret)
        return duty.data

    def _announce(self, reason: str, message: str) -> None:
        log.info(message, extra={"component": self._options.component, "reason": reason})
        self._options.announce(Announcement(self._options.component, reason, message))

    def _note_failure(self, error: Exception) -> None:
        if self._problem:
            self._problem = f"the {self.name} could not be checked: {error}"
