"""Files as the local Slack stores them and describes them in messages."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from bot.playground.workspace.state import JSON

# By ending: the type that is told, and the one under which it is served. Nothing of a file may run in the page.
TYPES = {"png": ("image/png", "image/png"), "md": ("text/markdown", "text/plain"), "txt": ("text/plain", "text/plain")}
OTHER = ("application/octet-stream", "application/octet-stream")
PREVIEW = 1500


@dataclass(slots=True)
class StoredFile:
    """A file: first announced, then uploaded, then shared."""

    id: str
    name: str
    length: int
    alt: str = ""
    title: str = ""
    # None until the bytes arrive
    content: bytes | None = None
    shared: bool = False
    secret: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def kind(self) -> str:
        """Return the extension of its name in lowercase."""
        return self.name.rpartition(".")[2].lower()

    @property
    def content_type(self) -> str:
        """Return the content type that the page receives."""
        return TYPES.get(self.kind, OTHER)[1]

    def public(self, base_url: str, user: str) -> JSON:
        """Return the file as messages describe it."""
        told: JSON = {
            "id": self.id,
            "name": self.name,
            "title": self.title or self.name,
            "mimetype": TYPES.get(self.kind, OTHER)[0],
            "filetype": self.kind,
            "user": user,
            "size": len(self.content or b""),
            "mode": "hosted",
            "url_private": f"{base_url}/files/{self.id}/{self.secret}",
        }
        if self.alt:
            told["alt_txt"] = self.alt
        if self.content_type == "text/plain":
            told["preview"] = (self.content or b"").decode("utf-8", "replace")[:PREVIEW]
        return told
