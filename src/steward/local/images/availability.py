"""Which images a start needs and no node can get: so that a missing image is reported before pods wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import aiohttp

from steward.local.images.names import full_name, registry_host

_TIMEOUT_SECONDS = 3.0
# The address behind the name of the default registry, which serves a web site.
_API_HOSTS = {"docker.io": "registry-1.docker.io"}
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


def missing_images(needed: Iterable[str], present: Iterable[str]) -> list[str]:
    """The names of `needed` that are not among `present`, in their order."""
    known = set(map(full_name, present))
    return [name for name in dict.fromkeys(needed) if full_name(name) not in known]


async def unavailable_images(needed: Iterable[str], present: Iterable[str]) -> list[str]:
    """The missing images whose registry does not answer."""
    missing = missing_images(needed, present)
    hosts = list(dict.fromkeys(map(registry_host, missing)))
    answers = dict(zip(hosts, await asyncio.gather(*map(registry_answers, hosts)), strict=True))
    return [name for name in missing if not answers[registry_host(name)]]


def describe_unavailable(names: Iterable[str]) -> str:
    listed = list(names)
    what, them = ("The image", "it") if len(listed) == 1 else ("The images", "them")
    verb = "is" if len(listed) == 1 else "are"
    return (
        f"{what} {', '.join(listed)} {verb} in no archive and no registry answers for {them}: save {them} on a "
        f"machine that has {them}, with `docker save`, and name the directory of the archives with --images."
    )


async def registry_answers(host: str, timeout_seconds: float = _TIMEOUT_SECONDS) -> bool:
    """Whether a registry answers on `host`, with any status: most want a token first."""
    url = f"{_scheme(host)}://{_API_HOSTS.get(host, host)}/v2/"
    limit = aiohttp.ClientTimeout(total=timeout_seconds)
    # containerd uses the proxy of the environment as well.
    async with aiohttp.ClientSession(trust_env=True, timeout=limit) as session:
        try:
            async with session.get(url, allow_redirects=False) as answer:
                return answer.status < 500
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError):
            return False


def _scheme(host: str) -> str:
    # As containerd does: plain HTTP for registries on this machine.
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return "http" if name in _LOOPBACK else "https"
