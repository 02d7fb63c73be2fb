"""The certificate keeper: keeps an authority and the leaves that it signs valid, in Secrets.

It runs on every replica. Each check reads the Secrets, decides (`renewal`) and writes what is due; the next check is
scheduled for the next step. It runs earlier when one of the Secrets changes or the wall clock is set. The order within
a check prevents failed calls: a new authority is published (by the hooks) before it signs anything.

    keeper = CertificateKeeper(client, KeeperOptions("shop", "shop-ca", (Leaf("shop-tls", service="webhook"),)))
    await keeper.check()          # once, from a reconcile: `next_check` of the result says when to check again
    await keeper.start()          # or continuously, as a service of the manager

Its client must not depend on leader election: standby replicas keep certificates, too.
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
from steward.certificates.projection import wait_for_projection
from steward.certificates.renewal import LEAF_CERTIFICATE, LEAF_KEY, Authority, Data, RenewalContext
from steward.certificates.secret_store import CertificateSecret, CertificateSecrets, SecretChangedError
from steward.certificates.secret_watch import SecretWatch
from steward.certificates.wall_clock_sleep import WakeReason, interruptible_sleep
from steward.certificates.worker_process import Call, CertificateWorker, in_this_process
from steward.kube.client.client import Client
from steward.kube.clock import Clock, Random, SystemClock
from steward.kube.errors import AlreadyExists, Conflict, KubeError

ATTEMPTS = 8
FIRST_RETRY = 1.0
LAST_RETRY = 60.0
JITTER = 0.1
STOP_SECONDS = 5.0
CALM_SECONDS = 1.0
"""A Secret that changes continuously causes at most one check in this time."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CertificateState:
    """The result of a check: all certificates are valid for at least the next `next_check` seconds."""

    bundle: bytes
    leaves: Mapping[str, KeyPair]
    next_check: float


@dataclass
class _CurrentTrust:
    """The argument of hooks; see `options.Trust`."""

    bundle: bytes
    secrets: CertificateSecrets
    ca_secret: str
    call: Call
    leaves: Mapping[str, KeyPair] = field(default_factory=dict)

    async def reread(self) -> bytes:
        secret = await self.secrets.read(self.ca_secret)
        authority = await self.call(renewal.read_authority, secret.data if secret else None)
        if authority is None:
            raise SecretChangedError(f"Secret {self.ca_secret} no longer holds an authority")
        return authority.bundle


class CertificateKeeper:
    def __init__(
        self,
        client: Client,
        options: KeeperOptions,
        clock: Clock | None = None,
        chance: Random = random.random,
        worker: CertificateWorker = in_this_process,
    ) -> None:
        self._options = options
        self._picklable_options = options.without_callbacks()
        self._worker = worker
        self._client = client
        self._secrets = CertificateSecrets(client, options)
        self._clock = clock or SystemClock()
        self._chance = chance
        self._task: asyncio.Task[None] | None = None
        self._checking = asyncio.Lock()
        self._problem = f"the {options.component} certificates have not been checked yet"

    @property
    def name(self) -> str:
        return f"{self._options.component} certificates"

    def problem(self) -> str:
        """Empty once the certificates are valid, else one sentence for the readiness probe."""
        return self._problem

    async def start(self) -> None:
        """Keep checking in the background."""
        self._task = asyncio.create_task(self.run(), name=self.name)

    async def stop(self) -> None:
        """Let a running check finish, but do not wait long for it."""
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
        """Check continuously; failures are logged and retried with backoff."""
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
            watch.record_checked(self._secrets.versions)
            wait, retry = (retry, min(retry * 2, LAST_RETRY)) if wait is None else (wait, FIRST_RETRY)
            woken = await interruptible_sleep(
                self._clock, wait * (1 + JITTER * self._chance()), watch.has_changes
            )
            if woken is WakeReason.INTERRUPTED:
                await self._clock.sleep(CALM_SECONDS)

    async def _seconds_after_check(self) -> float | None:
        """Check once; the seconds to the next check, or None if it failed."""
        try:
            return (await self.check()).next_check
        except (KubeError, CertificateError) as error:
            log.warning("cannot check the %s, trying again: %s", self.name, error)
            self._record_failure(error)
        except Exception as error:
            log.exception("checking the %s failed", self.name)
            self._record_failure(error)
        return None

    async def check(self) -> CertificateState:
        """Renew what is due, and publish the trusted authorities."""
        for _ in range(ATTEMPTS):
            try:
                async with self._worker() as call:
                    state = await self._check_once(call)
            except (AlreadyExists, Conflict, SecretChangedError) as error:
                log.debug("another replica was faster: %s", error)
            else:
                self._problem = ""
                return state
        raise CertificateError(f"the Secrets of the {self.name} change faster than they can be checked")

    async def _check_once(self, call: Call) -> CertificateState:
        secrets = {leaf.secret: await self._secrets.read(leaf.secret) for leaf in self._options.leaves}
        authority = await self._renew_authority(secrets, call)
        pairs = await call(
            renewal.read_pairs, {name: secret.data for name, secret in secrets.items() if secret}
        )
        trust = _CurrentTrust(authority.bundle, self._secrets, self._options.ca_secret, call, pairs)
        for hook in self._options.hooks:
            await hook(trust)
        leaves = {
            leaf.secret: await self._renew_leaf(leaf, secrets[leaf.secret], authority, call)
            for leaf in self._options.leaves
        }
        await self._publish_leaves(trust, leaves)
        next_check = await call(
            renewal.seconds_to_next_check, authority, list(leaves.values()), self._context()
        )
        return CertificateState(authority.bundle, trust.leaves, next_check)

    def _context(self) -> RenewalContext:
        return RenewalContext(self._picklable_options, self._clock.now())

    async def _publish_leaves(self, trust: _CurrentTrust, leaves: Mapping[str, Data]) -> None:
        """Call the hooks again for new leaves, and wait for the kubelet to mount them."""
        pairs = {name: KeyPair(data[LEAF_CERTIFICATE], data[LEAF_KEY]) for name, data in leaves.items()}
        if pairs != trust.leaves:
            trust.leaves = pairs
            for hook in self._options.hooks:
                await hook(trust)
        for leaf in self._options.leaves:
            if leaf.directory is not None:
                await wait_for_projection(leaf.directory, pairs[leaf.secret], self._clock)

    async def _renew_authority(self, leaves: Mapping[str, CertificateSecret | None], call: Call) -> Authority:
        name = self._options.ca_secret
        secret = await self._secrets.read(name)
        contents = [leaf.data if leaf else None for leaf in leaves.values()]
        decision = await call(
            renewal.decide_authority, secret.data if secret else None, contents, self._context()
        )
        if decision.is_new:
            await self._secrets.write(name, decision.authority.data(), secret)
            self._announce(
                "AuthorityCreated", f"made a new certificate authority in Secret {name}: {decision.reason}"
            )
        elif decision.is_changed:
            await self._secrets.write(name, decision.authority.data(), secret)
            self._announce(
                "AuthorityRetired", f"removed the old authority of {name}: every certificate has been renewed"
            )
        elif secret is not None and not self._secrets.has_ownership(secret):
            await self._secrets.write(name, secret.data, secret)
        return decision.authority

    async def _renew_leaf(
        self, leaf: Leaf, secret: CertificateSecret | None, authority: Authority, call: Call
    ) -> Data:
        data = secret.data if secret else None
        decision = await call(renewal.decide_leaf, leaf, data, authority, self._context())
        if decision.reason is not None:
            await self._secrets.write(leaf.secret, decision.data, secret)
            self._announce(
                "CertificateIssued", f"signed a new certificate in Secret {leaf.secret}: {decision.reason}"
            )
            return decision.data
        assert data is not None
        assert secret is not None
        if data != {**data, **decision.data} or not self._secrets.has_ownership(secret):
            await self._secrets.write(leaf.secret, {**data, **decision.data}, secret)
        return decision.data

    def _announce(self, reason: str, message: str) -> None:
        log.info(message, extra={"component": self._options.component, "reason": reason})
        self._options.announce(Announcement(self._options.component, reason, message))

    def _record_failure(self, error: Exception) -> None:
        if self._problem:
            self._problem = f"the {self.name} could not be checked: {error}"
