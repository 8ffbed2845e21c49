"""Decide whether a recovery that a person saw counts as VERIFIED."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.roles import Permission, Verifiers, may_verify
from bot.ports.channels import PeopleDirectory
from bot.ports.errors import ChatRejected, ChatUnavailable

UNKNOWN_PERSON = "It counts as not verified yet, for Slack does not tell me now who you are. Record it once more later."


async def confirm_anybody(_user_id: str) -> Permission:
    """Let everybody confirm a fix, where nothing is configured about it."""
    return Permission(True)


@dataclass(frozen=True, slots=True)
class ConfirmRecovery:
    """Decide whether a recovery that a person saw counts as VERIFIED."""

    people: PeopleDirectory
    verifiers: Verifiers

    async def __call__(self, user_id: str) -> Permission:
        """Return the permission; refused while Slack does not say who they are (what they reported is stored all the
        same).
        """
        try:
            return may_verify(await self.people.read_person(user_id), self.verifiers)
        except (ChatRejected, ChatUnavailable):
            return Permission(False, UNKNOWN_PERSON)
