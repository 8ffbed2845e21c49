"""Wire the digests: the scheduled one, and the one that people ask for."""

from __future__ import annotations

from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.foundation import Foundation
from bot.workflows.reports.digest import ComposeDigest, PostDigests


def build_post_digests(base: Foundation) -> PostDigests:
    """Build what posts the digests that are due."""
    return PostDigests(
        store=base.memory.incidents,
        feedback=base.memory.store.feedback,
        channels=base.memory.channels,
        claims=base.memory.claims,
        chat=base.chat,
        surfaces=base.surfaces,
        clock=base.clock,
        default=read_digest_time(base.settings),
    )


def build_compose_digest(base: Foundation) -> ComposeDigest:
    """Build what composes a digest on request."""
    return ComposeDigest(store=base.memory.incidents, feedback=base.memory.store.feedback)
