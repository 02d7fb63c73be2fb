"""Asks the API server for the user name of a connection."""

import msgspec

from steward.kube.client.client import Client, connect
from steward.kube.config.settings import ConnectionSettings
from steward.kube.transport.transport import TransportOptions
from tests.kube.support.instant_clock import InstantClock

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {}}


async def user_name(client: Client) -> str:
    answer = msgspec.json.decode(await client.create(REVIEW))
    name: str = answer["status"]["userInfo"]["username"]
    return name


async def connect_and_ask_user(settings: ConnectionSettings) -> str:
    client = await connect(settings, TransportOptions(clock=InstantClock()))
    try:
        return await user_name(client)
    finally:
        await client.close()
