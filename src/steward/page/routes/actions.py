"""Actions of a view: the allowed ones, a dry run of one, and doing it. Off unless the server was started with them."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from aiohttp import web
from msgspec import Struct

from steward.page.access.sessions import Session
from steward.page.live.action_run import allowed_actions, perform_action, preview_action, refusal
from steward.page.models.action import Action, action_dict
from steward.page.models.actions import available_actions
from steward.page.models.addresses import ViewAddress, parse_address
from steward.page.routes.context import PageContext
from steward.page.routes.login import read_json
from steward.page.routes.responses import Refused, json_response
from steward.page.routes.views import requested_view

log = logging.getLogger(__name__)


class ActionRequest(Struct, rename="camel"):
    """Without `confirmed` a dry run; it is the digest that the dry run answered. `typed` is what the reader typed."""

    view: str
    id: str
    confirmed: str = ""
    typed: str = ""


def require_actions(context: PageContext) -> None:
    if not context.options.allows_actions:
        raise Refused(403, "actions are off: start the page with --actions")


async def list_actions(request: web.BaseRequest, session: Session, context: PageContext) -> web.Response:
    require_actions(context)
    found = await _available(requested_view(request), session, context)
    return json_response([action_dict(each) for each in await allowed_actions(session.client, found)])


async def act(request: web.BaseRequest, session: Session, context: PageContext) -> web.Response:
    require_actions(context)
    given = await read_json(request, ActionRequest)
    address = parse_address(given.view)
    if address is None:
        raise Refused(404, "there is no such view")
    found = await _available(address, session, context)
    action = next((each for each in found if each.id == given.id), None)
    if action is None:
        raise Refused(409, "this action is no longer possible: the object has changed")
    if not given.confirmed:
        return json_response(await _preview(session, action))
    if given.confirmed != action.digest:
        raise Refused(409, "it would do something else now than what was shown: look again")
    if given.typed != action.typed:
        raise Refused(400, f"type {action.typed} to confirm")
    await perform_action(session.client, action)
    log.info("action", extra={"user": session.identity.user, "action": action.id, "object": str(action.ref)})
    return json_response({"message": f"{action.label}: requested."})


async def _preview(session: Session, action: Action) -> dict[str, object]:
    refused = await refusal(session.client, action)
    diff = [] if refused else await preview_action(session.client, action)
    return {**action_dict(action), "diff": diff, "refusal": refused}


async def _available(address: ViewAddress, session: Session, context: PageContext) -> list[Action]:
    async with context.pool.use(session.workspace_key, session.client) as (workspace, _):
        await workspace.wait_first_snapshot()
        return available_actions(workspace.snapshot, address, datetime.now(UTC))
