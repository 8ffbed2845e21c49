"""Let a person dismiss a precedent for one kind of alert, or take that back.

`bot.domain.recall.feedback` applies it to a recall. Must not change the incident itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.domain.access.roles import Act
from bot.domain.access.visibility import Viewer
from bot.domain.brief.decide import SourceLine
from bot.domain.delivery.ids import build_correction_key
from bot.domain.recall.dismissed import SET_ASIDE, TAKEN_BACK, DismissalReason, DismissedPrecedent, dismiss_precedent
from bot.domain.text.redaction import mask
from bot.ports.audit import AuditLine, format_change
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import RecordRejected
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore, require_brief
from bot.ports.unit_of_work import Changes

KIND = "corrected"
MAX_NOTE = 300
NO_PRECEDENT = "Choose one of the incidents that the brief lists."
NO_SERVICE = "This alert names no service; choose “only for this kind of alert”."


@dataclass(frozen=True, slots=True)
class PrecedentDismissal:
    """The form as submitted."""

    incident_id: str
    why: DismissalReason
    note: str = ""
    # True to hide the precedent from all alerts of the service, not only from this kind of alert.
    pinned_off: bool = False


@dataclass(frozen=True, slots=True)
class DismissiblePrecedents:
    """The precedents of a brief that can be dismissed, and the alert's service."""

    lines: tuple[SourceLine, ...]
    service: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissPrecedent:
    """Dismiss a precedent, and take that back."""

    store: IncidentStore
    feedback: FeedbackStore
    # Raises NotAllowedHere for people who may not give feedback.
    require: Callable[[str, Act], Awaitable[None]]
    clock: Clock

    async def open_form(self, incident_id: str, channel_id: str, viewer: Viewer) -> DismissiblePrecedents:
        """Return what the brief lists and this viewer may see now. Raises IncidentNotFound, StoreUnavailable."""
        brief = (await require_brief(self.store, incident_id, channel_id)).brief
        lines = (*brief.sources, *brief.possible)
        found = await self.store.find_records([line.incident_id for line in lines])
        seen = {i for i, record in found.items() if viewer.may_see(record.source.visibility)}
        return DismissiblePrecedents(tuple(line for line in lines if line.incident_id in seen), brief.alert.service)

    async def __call__(
        self, incident_id: str, channel_id: str, viewer: Viewer, user_id: str, wrong: PrecedentDismissal, once: str
    ) -> DismissedPrecedent:
        """Store the dismissal, and queue an update of the threads whose brief it changes.

        `once` names the submission. Raises NotAllowedHere, RecordRejected with the field, IncidentNotFound,
        StoreUnavailable: nothing was saved then.
        """
        await self.require(user_id, Act.FEEDBACK)
        listed = await self.open_form(incident_id, channel_id, viewer)
        if wrong.incident_id not in {line.incident_id for line in listed.lines}:
            raise RecordRejected("precedent_id", NO_PRECEDENT)
        if wrong.pinned_off and not listed.service:
            raise RecordRejected("pin", NO_SERVICE)
        posted, life = (
            await require_brief(self.store, incident_id, channel_id),
            await self.store.read_lifecycle(incident_id),
        )
        note = mask(wrong.note.replace("\x00", "").strip())[0][:MAX_NOTE]
        dismissal = replace(
            dismiss_precedent(posted.brief.alert, wrong.incident_id, wrong.why, user_id, self.clock.now()),
            about=incident_id,
            channel=channel_id,
            visibility=life.visibility,
            note=note,
            pinned_off=wrong.pinned_off,
        )
        after = {"set aside": wrong.why.value, "said of": incident_id, "pinned off": wrong.pinned_off}
        audit = (AuditLine(user_id, "set aside", wrong.incident_id, format_change({}, after)),)
        changes = Changes(
            once=f"aside/{once}", audit=audit, received=(_build_work(SET_ASIDE, dismissal, user_id, once),)
        )
        return replace(dismissal, number=await self.feedback.dismiss_precedent(dismissal, changes))

    async def list_dismissed(self, channel_id: str) -> tuple[DismissedPrecedent, ...]:
        """Return the dismissals of this channel that are in force. Raises StoreUnavailable."""
        return await self.feedback.list_dismissed(channel=channel_id)

    async def take_back(self, number: int, channel_id: str, user_id: str) -> None:
        """End a dismissal; one that has ended, or is of another channel, is no error.

        Raises NotAllowedHere, StoreUnavailable.
        """
        await self.require(user_id, Act.UNDO)
        dismissal = next((a for a in await self.list_dismissed(channel_id) if a.number == number), None)
        if dismissal is None:
            return
        before = {"set aside": dismissal.why.value, "said of": dismissal.about}
        audit = (AuditLine(user_id, "undo set aside", dismissal.incident_id, format_change(before, {})),)
        event = _build_work(TAKEN_BACK, dismissal, user_id, str(number))
        await self.feedback.undo_dismissal(dismissal, user_id, Changes(audit=audit, received=(event,)))


def _build_work(what: str, dismissal: DismissedPrecedent, by: str, once: str) -> ReceivedEvent:
    """Build the inbox event that updates the threads, in order with whatever else happens to the precedent."""
    key = build_correction_key(what.split(" for ", maxsplit=1)[0], dismissal.incident_id, once)
    body = {"what": what, "incident_id": dismissal.incident_id, "by": by, "key": key}
    return ReceivedEvent(key, key, KIND, body, order_key=f"{KIND}/{dismissal.incident_id}")
