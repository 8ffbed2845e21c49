"""Methods of files.* and the server of the bytes: an upload address, the bytes, then a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.playground.core import LocalSlackCore
from bot.playground.web_api.arguments import find_joined_channel, read_required
from bot.playground.workspace import messages
from bot.playground.workspace.files import StoredFile
from bot.playground.workspace.state import JSON, SlackRefused

MAX_ALT = 1000


def get_upload_url(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle files.getUploadURLExternal."""
    name, length = read_required(args, "filename"), read_required(args, "length")
    alt = str(args.get("alt_txt") or "")
    if not length.isdigit() or int(length) < 1 or len(alt) > MAX_ALT:
        raise SlackRefused("invalid_arguments")
    file = StoredFile(core.workspace.new_id("F"), name, int(length), alt)
    core.files[file.id] = file
    return {"file_id": file.id, "upload_url": f"{core.url}/upload/{file.id}/{file.secret}"}


def complete_upload(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle files.completeUploadExternal: the files become one message if a channel is given."""
    given = args.get("files")
    if not isinstance(given, list) or not given:
        raise SlackRefused("invalid_arguments")
    found = [_find_filled_file(core, entry) for entry in given]
    base, user = core.url, core.workspace.bot_user
    if args.get("channel_id"):
        channel = find_joined_channel(core, {"channel": args["channel_id"]})
        told = [file.public(base, user) for file in found]
        content = {"text": str(args.get("initial_comment") or ""), "files": told}
        fields = messages.build_app_message(core.workspace, core.workspace.bot, content)
        core.add_message(channel, fields, thread_ts=str(args.get("thread_ts") or ""))
    for file in found:
        file.shared = True
    return {"files": [{"id": file.id, "title": file.title} for file in found]}


def _find_filled_file(core: LocalSlackCore, entry: Any) -> StoredFile:
    file = core.files.get(str(entry.get("id"))) if isinstance(entry, Mapping) else None
    if file is None or file.content is None or file.shared:
        raise SlackRefused("file_not_found")
    file.title = str(entry.get("title") or file.name)
    return file


def delete(core: LocalSlackCore, args: JSON) -> JSON:
    """Handle files.delete: the file and, if it shows nothing else, the message."""
    file = core.files.pop(read_required(args, "file"), None)
    if file is None:
        raise SlackRefused("file_not_found")
    for channel in core.workspace.channels.values():
        for message in list(channel.messages.values()):
            if any(shown["id"] == file.id for shown in message.get("files") or ()):
                core.delete_message(channel, message["ts"])
    return {}


METHODS: dict[str, Callable[[LocalSlackCore, JSON], JSON]] = {
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "files.delete": delete,
}


@dataclass(frozen=True, slots=True)
class FileServer:
    """Receive and serve the bytes of files."""

    core: LocalSlackCore

    async def put(self, request: web.Request) -> web.Response:
        """Receive the bytes for an upload address, once."""
        file = self._file(request.match_info["file"], request.match_info["secret"])
        content = await request.read()
        if file.content is not None or len(content) != file.length:
            raise web.HTTPBadRequest(text="length or file are not those that were asked for")
        file.content = content
        return web.Response(text=f"OK - {len(content)}")

    async def get(self, request: web.Request) -> web.Response:
        """Serve the bytes to the page."""
        file = self._file(request.match_info["file"], request.match_info["name"])
        headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}
        return web.Response(body=file.content or b"", content_type=file.content_type, headers=headers)

    def _file(self, file_id: str, secret: str) -> StoredFile:
        file = self.core.files.get(file_id)
        if file is None or file.secret != secret:
            raise web.HTTPNotFound
        return file
