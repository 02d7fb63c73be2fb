"""Readers share watches only if identity and rights are equal."""

from __future__ import annotations

import asyncio

from steward.page.access.sessions import Session, open_session
from steward.page.access.workspace_pool import WorkspacePool
from tests.page.support.memory_api import MemoryApi, User


async def session(api: MemoryApi, token: str) -> Session:
    return await open_session(api.client(token), ())


async def test_readers_of_one_identity_share_a_workspace() -> None:
    api, pool = MemoryApi(), WorkspacePool()
    api.users |= {"a": User(), "b": User()}
    one, other = await session(api, "a"), await session(api, "b")
    async with (
        pool.use(one.workspace_key, one.client) as (first, _),
        pool.use(other.workspace_key, other.client) as (second, _),
    ):
        assert first is second
    await pool.close()


async def test_equal_rights_of_another_user_are_not_shared() -> None:
    api, pool = MemoryApi(), WorkspacePool()
    api.users |= {"a": User("ada"), "b": User("bob")}
    one, other = await session(api, "a"), await session(api, "b")
    async with (
        pool.use(one.workspace_key, one.client) as (first, _),
        pool.use(other.workspace_key, other.client) as (second, _),
    ):
        assert first is not second
        assert len(pool) == 2
    await pool.close()


async def test_the_same_user_with_fewer_rights_has_its_own_workspace() -> None:
    api = MemoryApi()
    api.users |= {"a": User(), "b": User(denied=frozenset({"Pod"}))}
    one, other = await session(api, "a"), await session(api, "b")
    assert one.workspace_key != other.workspace_key


async def test_an_unused_workspace_is_closed() -> None:
    api, pool = MemoryApi(), WorkspacePool(linger=0.01)
    one = await session(api, "")
    async with pool.use(one.workspace_key, one.client) as (_, closed):
        assert len(pool) == 1
    await asyncio.wait_for(closed.wait(), 10)
    assert len(pool) == 0
    await pool.close()


async def test_a_workspace_closes_with_the_session_whose_credentials_it_uses() -> None:
    api, pool = MemoryApi(), WorkspacePool()
    one = await session(api, "")
    async with pool.use(one.workspace_key, one.client) as (_, closed):
        await pool.close_opened_by(one.client)
        assert closed.is_set()
    assert not api.watchers
