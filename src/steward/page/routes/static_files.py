"""The files of the front end, read once and served from memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from aiohttp import web

from steward.page.routes.responses import Refused

DIRECTORY: Final = Path(__file__).parent.parent / "static"
SHELL: Final = "index.html"
_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    body: bytes
    content_type: str
    tag: str


def read_files(directory: Path = DIRECTORY) -> Mapping[str, StaticFile]:
    """By name; the directory has no other files than those that are served."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {path.relative_to(directory).as_posix(): _read(path) for path in found}


def _read(path: Path) -> StaticFile:
    body = path.read_bytes()
    return StaticFile(body, _TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:24]}"')


def file_response(files: Mapping[str, StaticFile], name: str, request: web.BaseRequest) -> web.Response:
    found = files.get(name)
    if found is None:
        raise Refused(404, "there is no such file")
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == found.tag:
        return web.Response(status=304, headers=headers)
    return web.Response(body=found.body, content_type=found.content_type, charset="utf-8", headers=headers)


def shell_response(files: Mapping[str, StaticFile], status: int) -> web.Response:
    """The frame of the page for an address without a view: it says so in words, where JSON would say it in code."""
    shell = files[SHELL]
    return web.Response(body=shell.body, status=status, content_type=shell.content_type, charset="utf-8")
