"""Let people silence alerts ("not an alert", mutes), and undo both. Everything is audited, and nothing is silenced
for good.

`bot.domain.alerts.suppression` decides what a rule or a mute covers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.domain.access.roles import Act, Stewards, check_permission
from bot.domain.alerts.alert import Alert
from bot.domain.alerts.suppression import (
    LONGEST_MUTE,
    MEMBERS_MUTE_FOR,
    ChannelPolicy,
    Mute,
    MuteTarget,
    RuleScope,
    SilenceRule,
    name_alert,
)
from bot.domain.brief.decide import add_lifecycle
from bot.domain.delivery.ids import build_delete_id, build_incident_key, build_muted_id, split_superseded
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, dismiss, undo_dismissal
from bot.domain.incidents.opening import build_view
from bot.ports.audit import AuditLine, format_change
from bot.ports.channels import ChannelStore, PeopleDirectory
from bot.ports.chat import ChatMessage, Posting
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.ports.incidents import IncidentStore, find_lifecycle, require_brief
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, retry_conflicts

MAX_REASON = 300
CONFLICTS = 5


@dataclass(frozen=True, slots=True)
class PermissionGate:
    """Check whether a person may do something."""

    people: PeopleDirectory
    stewards: Stewards

    async def require(self, user_id: str, act: Act) -> None:
        """Raise NotAllowedHere, naming who may, unless this person may."""
        permission = check_permission(await self.people.read_person(user_id), act, self.stewards)
        if not permission.allowed:
            raise NotAllowedHere(permission.refusal)


@dataclass(frozen=True, slots=True)
class AnsweredAlert:
    """A brief in a channel, and the source of the post that it answers."""

    incident_id: str
    alert: Alert
    source: str
    # The name of the app that posted it; "" if it is not known.
    app: str
    life: Lifecycle


@dataclass(frozen=True, slots=True)
class FindAnsweredAlert:
    """Find the alert that a brief's menu is about."""

    store: IncidentStore
    channels: ChannelStore
    people: PeopleDirectory

    async def __call__(self, incident_id: str, channel_id: str) -> AnsweredAlert:
        """Raise IncidentNotFound if the incident has no brief in this channel, StoreUnavailable."""
        life = await self.store.read_lifecycle(incident_id)
        here = await require_brief(self.store, incident_id, channel_id)
        source = await self.channels.find_source(channel_id, life.fingerprint) or ""
        names = await self.people.read_app_names([source]) if source else {}
        return AnsweredAlert(incident_id, here.brief.alert, source, names.get(source) or source, life)


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissAlert:
    """Dismiss an incident whose alert a person calls no alert: its brief is deleted and, unless they say "only this
    one", a rule is added.
    """

    store: IncidentStore
    channels: ChannelStore
    gate: PermissionGate
    clock: Clock

    async def __call__(
        self, answered: AnsweredAlert, channel_id: str, user_id: str, reach: RuleScope | None
    ) -> SilenceRule | None:
        """Return the rule that is in force from now on, None without one.

        Raises NotAllowedHere, RecordRejected (an incident with a recorded resolution was an alert), StoreUnavailable.
        """
        await self.gate.require(user_id, Act.TEACH)
        return await retry_conflicts(CONFLICTS, partial(self._dismiss, answered, channel_id, user_id, reach))

    async def _dismiss(
        self, answered: AnsweredAlert, channel_id: str, user_id: str, reach: RuleScope | None
    ) -> SilenceRule | None:
        life = await self.store.read_lifecycle(answered.incident_id)
        if life.state is IncidentState.RESOLVED:
            raise RecordRejected("", f"A resolution of {answered.incident_id} is recorded, so it was an alert.")
        changes = await self._build_changes(life, channel_id, user_id, reach)
        title = name_alert(answered.alert)
        if reach is None or not answered.source:
            await self.store.commit(changes)
            return None
        now = self.clock.now()
        rule = SilenceRule(
            channel_id, answered.source, answered.alert.tool, title, user_id, now, reach, answered.incident_id
        )
        return replace(rule, number=await self.channels.add_rule(rule, changes))

    async def _build_changes(self, life: Lifecycle, channel_id: str, user_id: str, reach: RuleScope | None) -> Changes:
        """Delete the brief in this channel, and dismiss the incident unless another channel works on it."""
        posted = await self.store.list_briefs(life.incident_id)
        here = tuple(b for b in posted if b.channel == channel_id)
        alone = len(here) == len(posted)
        ended = dismiss(life, self.clock.now())
        briefs = tuple(replace(b, brief=add_lifecycle(b.brief, build_view(ended))) for b in here) if alone else ()
        rule = {"rule": str(reach), "channel": channel_id} if reach else {}
        detail = format_change({}, rule) if rule else f"{channel_id}: this one only"
        return Changes(
            lifecycles=(ended,) if alone else (),
            briefs=briefs,
            deliveries=tuple(row for brief in here for row in _build_deletions(brief)),
            audit=(AuditLine(user_id, "not an alert", life.incident_id, detail),),
        )


def _build_deletions(posted: PostedBrief) -> tuple[OutboxEntry, ...]:
    """Delete the brief's message and those that it superseded: each delivery id begins with the one before."""
    names = split_superseded(posted.delivery_id)
    key = build_incident_key(posted.channel, posted.incident_id)
    return tuple(
        build_outbox_entry(
            Posting(Operation.DELETE, posted.channel, build_delete_id(name), incident_id=posted.incident_id),
            key=key,
            urgent=True,
            target=name,
        )
        for name in names
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MuteAlerts:
    """Mute an alert, a service or the whole channel for a while, and say so in the thread."""

    store: IncidentStore
    channels: ChannelStore
    surfaces: Surfaces
    gate: PermissionGate
    clock: Clock

    async def __call__(
        self,
        answered: AnsweredAlert,
        channel_id: str,
        user_id: str,
        what: MuteTarget,
        until: datetime,
        reason: str,
        once: str,
    ) -> Mute:
        """Return the mute that is in force from now on.

        `once` names the submission, so that a second one changes nothing. Raises NotAllowedHere, RecordRejected with
        the field, StoreUnavailable.
        """
        now = self.clock.now()
        if until <= now:
            raise RecordRejected("until", "That time is over already.")
        if until - now > LONGEST_MUTE:
            raise RecordRejected("until", f"At most {LONGEST_MUTE.days} days.")
        await self._require_allowed(user_id, until - now)
        value, shown = self._describe_scope(answered.alert, what)
        clean_reason = reason.replace("\x00", "").strip()[:MAX_REASON]
        mute = Mute(channel_id, what, value, shown, until, clean_reason, user_id, now, answered.incident_id)
        muted = {"muted": shown, "what": str(what), "until": until.isoformat(timespec="minutes")}
        detail = format_change({}, muted, clean_reason)
        changes = Changes(
            deliveries=await self._build_notice(mute, once),
            once=f"mute/{once}",
            audit=(AuditLine(user_id, "mute", channel_id, detail),),
        )
        return replace(mute, number=await self.channels.add_mute(mute, changes))

    async def _require_allowed(self, user_id: str, lasts: timedelta) -> None:
        try:
            await self.gate.require(user_id, Act.MUTE if lasts <= MEMBERS_MUTE_FOR else Act.MUTE_LONG)
        except NotAllowedHere as refused:
            raise RecordRejected("until", str(refused)) from refused

    def _describe_scope(self, alert: Alert, what: MuteTarget) -> tuple[str, str]:
        if what is MuteTarget.CHANNEL:
            return "", "everything in this channel"
        if what is MuteTarget.FINGERPRINT:
            return alert.fingerprint, name_alert(alert)
        if not alert.service:
            raise RecordRejected("what", "This alert names no service.")
        return alert.service, f"service {alert.service}"

    async def _build_notice(self, mute: Mute, once: str) -> tuple[OutboxEntry, ...]:
        here = next((b for b in await self.store.list_briefs(mute.incident_id) if b.channel == mute.channel), None)
        if here is None:
            return ()
        message: ChatMessage = self.surfaces.render_mute(mute)
        posting = Posting(
            Operation.POST,
            mute.channel,
            build_muted_id(once),
            message.text,
            message.blocks,
            thread_ts=here.root_ts,
            incident_id=mute.incident_id,
        )
        return (build_outbox_entry(posting, key=build_incident_key(mute.channel, mute.incident_id), urgent=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoSilence:
    """End a rule or a mute."""

    store: IncidentStore
    channels: ChannelStore
    gate: PermissionGate
    clock: Clock

    async def __call__(self, kind: str, number: int, channel_id: str, user_id: str) -> ChannelPolicy:
        """Return the channel's policy after ending a "rule" or "mute" (`kind`); one that has ended before is no
        error.

        Raises NotAllowedHere, StoreUnavailable.
        """
        await self.gate.require(user_id, Act.UNDO)
        return await retry_conflicts(CONFLICTS, partial(self._undo, kind, number, channel_id, user_id))

    async def _undo(self, kind: str, number: int, channel_id: str, user_id: str) -> ChannelPolicy:
        now = self.clock.now()
        policy = await self.channels.read_policy(channel_id, now)
        among: tuple[SilenceRule | Mute, ...] = policy.rules if kind == "rule" else policy.mutes
        silence = next((s for s in among if s.number == number), None)
        if silence is None:
            return policy
        shown = silence.title if isinstance(silence, SilenceRule) else silence.shown
        audit = (AuditLine(user_id, f"undo {kind}", channel_id, format_change({kind: shown, "number": number}, {})),)
        lives = await self._reopen_dismissed(silence, now) if isinstance(silence, SilenceRule) else ()
        await self.channels.undo_silence(silence, user_id, Changes(lifecycles=lives, audit=audit))
        return await self.channels.read_policy(channel_id, self.clock.now())

    async def _reopen_dismissed(self, rule: SilenceRule, now: datetime) -> tuple[Lifecycle, ...]:
        life = await find_lifecycle(self.store, rule.incident_id)
        return (undo_dismissal(life, now),) if life and life.state is IncidentState.DISMISSED else ()


@dataclass(frozen=True, slots=True)
class ListSilences:
    """List the rules and mutes of a channel."""

    channels: ChannelStore
    clock: Clock

    async def __call__(self, channel_id: str) -> ChannelPolicy:
        """Return what is in force now. Raises StoreUnavailable."""
        return await self.channels.read_policy(channel_id, self.clock.now())
