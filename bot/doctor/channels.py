"""Check what reaches the bot in Slack: its channels, the channels named in the settings, events, and stewards.

Nothing is posted or joined. What cannot be checked from outside is reported as unknown.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bot.adapters.store.upkeep.inspect import EventArrivals, StoreAddress, open_parts
from bot.bootstrap.system import RandomIds
from bot.doctor.finding import Finding
from bot.doctor.machine import RunningBot
from bot.doctor.slack import PAGE, RESTART, SOCKET_MODE_OFF, SlackExamination
from bot.ports.chat import Channel
from bot.ports.clock import Clock
from bot.ports.errors import ChatRejected, PrecedentError
from bot.settings import Settings
from bot.slack.client.app_info import (
    AppIdentity,
    find_channel_by_id,
    is_person,
    list_group_ids,
    list_joined_channels,
    list_posts,
)
from bot.slack.client.chat import SlackChat

_CHANNEL_ID = re.compile(r"[CG][A-Z0-9]{2,20}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,20}")
FIND_ID = "in Slack the channel's name → About → Channel ID (C…), at the bottom"
MAX_NAMED = 4
SHADOW = "Shadow channel"
# So long an event may be under way, and so far back posts are compared: older ones are not read back after a stop.
EVENT_DELAY, COMPARED_PERIOD = timedelta(seconds=90), timedelta(hours=6)
CONNECTION_FRESHNESS = timedelta(minutes=5)
RECENT = timedelta(hours=1)
MAX_COMPARED_CHANNELS = 5
EVENTS = {False: "message.channels", True: "message.groups"}


@dataclass(frozen=True, slots=True)
class SlackAccess:
    """A working connection to Slack: the client, and the bot's identity."""

    chat: SlackChat
    own: AppIdentity
    clock: Clock


async def check_channels(here: SlackAccess) -> tuple[tuple[Finding, ...], tuple[Channel, ...]]:
    """Check that the bot is in a channel. Return the findings and the channels that it is in."""
    try:
        found = await list_joined_channels(here.chat)
    except PrecedentError as problem:
        return (Finding("Channels", None, f"could not be read: {problem}"),), ()
    if not found:
        said = f"@{here.own.name} is in no channel: it sees no alert"
        fix = f"In Slack, in each channel that gets alerts: /invite @{here.own.name}"
        return (Finding("Channels", False, said, fix),), ()
    return (Finding("Channels", True, f"in {len(found)}: {_format_channels(found)}"),), found


def _format_channels(found: Sequence[Channel]) -> str:
    names = ", ".join(f"#{one.name}" for one in found[:MAX_NAMED])
    return f"{names} and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else names


async def check_configured_channels(
    here: SlackAccess, settings: Settings, deploy_posts: Iterable[str]
) -> tuple[Finding, ...]:
    """Check that the channels named in settings and configuration exist and are open, and that the bot is in them."""
    named = [("Webhook channel", "WEBHOOK_CHANNEL", settings.webhook_channel)] if settings.webhook_channel else []
    named += [(SHADOW, "SHADOW_CHANNEL", settings.shadow_channel)] if settings.shadow_channel else []
    named += [("Deploy channel", "[deploy_posts] channels", channel) for channel in deploy_posts]
    found = [await _check_configured_channel(here, check, where, channel or "") for check, where, channel in named]
    return tuple(found)


async def _check_configured_channel(here: SlackAccess, check: str, where: str, channel: str) -> Finding:
    says = f"{where} names {channel}"
    if not _CHANNEL_ID.fullmatch(channel):
        return Finding(
            check, False, f"{says}, which is a name: the id is needed", f"Put the id into {where}: {FIND_ID}."
        )
    try:
        found = await find_channel_by_id(here.chat, channel)
    except PrecedentError as problem:
        return Finding(check, None, f"{says}, which could not be looked at: {problem}")
    invite = f"/invite @{here.own.name}"
    if found is None:
        said = f"{says}, which is not there, or is private and the bot is not in it"
        return Finding(check, False, said, f"In that channel: {invite}. Or correct the id in {where}: {FIND_ID}.")
    if found.is_archived:
        return Finding(
            check,
            False,
            f"{says} (#{found.name}), which is archived",
            f"Unarchive it in Slack, or put another id into {where}.",
        )
    if not found.is_joined:
        return Finding(check, False, f"{says} (#{found.name}), and the bot is not in it", f"In #{found.name}: {invite}")
    if check != SHADOW:
        return Finding(check, True, f"#{found.name} ({channel})")
    if found.is_shared:
        said = f"{says} (#{found.name}), which another organisation reads, too: nothing is posted there"
        return Finding(check, False, said, f"Put the id of a channel of your own into {where}: {FIND_ID}.")
    return Finding(check, True, f"on: all that the bot would say by itself goes to #{found.name} ({channel})")


async def discount_socket_warning(told: SlackExamination, at: StoreAddress | None, clock: Clock) -> SlackExamination:
    """Drop Slack's warning about Socket Mode if events arrived recently, and return the corrected examination.

    Slack occasionally sends this warning to apps that have Socket Mode switched on.
    """
    if at is None or SOCKET_MODE_OFF not in told.findings:
        return told
    async with open_parts(at, clock, RandomIds()) as store:
        _, last = await store.arrivals.read_span()
    if last is None or clock.now() - last > RECENT:
        return told
    said = (
        f"Slack warns that Socket Mode is not turned on, yet events come (the last at {last:%H:%M} UTC): nothing to do"
    )
    doubted = tuple(Finding(SOCKET_MODE_OFF.check, None, said) if f == SOCKET_MODE_OFF else f for f in told.findings)
    return replace(told, findings=doubted, connects=True)


async def check_events(
    here: SlackAccess, at: StoreAddress, found: Sequence[Channel], running: RunningBot
) -> tuple[Finding, ...]:
    """Check that posts reach the bot as events.

    Slack does not tell a bot which events it is subscribed to, so the posts in the channels are compared with the
    events received.
    """
    now = here.clock.now()
    async with open_parts(at, here.clock, RandomIds()) as store:
        heard = await store.watermark.read()
        first, last = await store.arrivals.read_span()
        if heard is None or now - heard > CONNECTION_FRESHNESS:
            told = "the bot is not connected now" if heard else "the bot was never connected"
            return (
                Finding(
                    "Events",
                    None,
                    f"{told}: whether events come cannot be seen; start `precedent serve`, then run this again",
                ),
            )
        since = max(filter(None, (first or running.since, now - COMPARED_PERIOD)))
        if first is None and running.since is None:
            return (
                Finding(
                    "Events",
                    None,
                    "no event has come yet: post a line in a channel where the bot is, then run this again",
                ),
            )
        try:
            missed = await _find_missed_posts(here, store.arrivals, found, since, now - EVENT_DELAY)
        except ChatRejected as problem:
            return (Finding("Events", None, f"channels could not be read to compare: {problem}"),)
    if missed:
        return tuple(_build_unsubscribed(private, places) for private, places in missed.items())
    if last is None:
        return (
            Finding(
                "Events", None, "no event has come yet, and none was due: post a line in a channel where the bot is"
            ),
        )
    return (Finding("Events", True, f"they come: the last at {last:%H:%M} UTC, and no post of a channel is missing"),)


MissedPosts = dict[bool, dict[str, list[datetime]]]


async def _find_missed_posts(
    here: SlackAccess, arrivals: EventArrivals, found: Sequence[Channel], since: datetime, until: datetime
) -> MissedPosts:
    """Find the posts that never arrived as events: their times, by channel, by whether the channel is private."""
    missed: MissedPosts = defaultdict(dict)
    for private in EVENTS:
        for one in [p for p in found if p.is_private is private][:MAX_COMPARED_CHANNELS]:
            posts = await list_posts(here.chat, one.id, f"{since.timestamp():.6f}", here.own)
            known = await arrivals.list_posts(one.id, since - EVENT_DELAY)
            if lost := sorted(at for ts in posts if ts not in known and (at := _parse_ts(ts)) <= until):
                missed[private][one.name] = lost
    return missed


def _parse_ts(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), tz=UTC)


def _build_unsubscribed(private: bool, places: dict[str, list[datetime]]) -> Finding:  # noqa: FBT001  # the key of a table
    lost = sorted(at for times in places.values() for at in times)
    where = ", ".join(f"#{name}" for name in list(places)[:MAX_NAMED])
    posts = "1 post" if len(lost) == 1 else f"{len(lost)} posts"
    said = (
        f"{posts} in {where} since {lost[0]:%H:%M} UTC never came as events, though the bot is connected: most likely"
        f" the app is not subscribed to {EVENTS[private]} (seen in the channels' history; Slack tells no bot its subscriptions)"
    )
    fix = (
        f"{PAGE} Event Subscriptions: “Enable Events” on; Subscribe to bot events → “Add Bot User Event”: {EVENTS[private]};"
        f" “Save Changes”; Install App → “Reinstall to Workspace”; {RESTART}."
    )
    return Finding("Events", False, said, fix)


def describe_buttons() -> Finding:
    """Say what no program can check."""
    said = (
        "whether Interactivity and the slash commands are on cannot be seen from here: type /precedent help in a channel and"
        " press a button of a brief"
    )
    return Finding("Buttons", None, said)


async def check_stewards(here: SlackAccess, settings: Settings) -> tuple[Finding, ...]:
    """Check that the people and groups named in the settings exist."""
    try:
        gone = [user for user in sorted(settings.steward_ids) if not await is_person(here.chat, user)]
    except PrecedentError as problem:
        return (Finding("Stewards", None, f"could not be looked up: {problem}"),)
    found = await _check_groups(here, settings)
    if gone:
        said = f"STEWARDS names {', '.join(gone)}: nobody here has that id, or they left"
        fix = "In Slack: the person's profile → ⋮ → “Copy member ID” (U…); put the ids into STEWARDS, with commas."
        found = (Finding("Stewards", False, said, fix), *found)
    if found:
        return found
    beside = f" and {len(settings.steward_ids)} named in STEWARDS" if settings.steward_ids else ""
    group = " and a user group" if settings.steward_group else ""
    return (Finding("Stewards", True, f"workspace admins{beside}{group}"),)


async def _check_groups(here: SlackAccess, settings: Settings) -> tuple[Finding, ...]:
    """Check the user groups of STEWARD_GROUP and VERIFIER_GROUP, which need a scope of their own."""
    named = {"STEWARD_GROUP": settings.steward_group, "VERIFIER_GROUP": settings.verifier_group}
    given = {name: group for name, group in named.items() if group}
    if not given:
        return ()
    if here.own.scopes and "usergroups:read" not in here.own.scopes:
        said = f"{' and '.join(given)} {'is' if len(given) == 1 else 'are'} set, and the scope usergroups:read is missing: nobody is in it for the bot"
        fix = f"{PAGE} OAuth & Permissions → Bot Token Scopes → “Add an OAuth Scope”: usergroups:read; Install App → “Reinstall to Workspace”."
        return (Finding("User groups", False, said, fix),)
    try:
        there = await list_group_ids(here.chat)
    except PrecedentError as problem:
        return (Finding("User groups", None, f"could not be looked up: {problem}"),)
    gone = {name: group for name, group in given.items() if group not in there}
    if not gone:
        return ()
    name, group = next(iter(gone.items()))
    kind = "" if _GROUP_ID.fullmatch(group) else ", which is no group's id (S…)"
    said = f"{name} names {group}{kind}: there is no such user group, so nobody is in it"
    fix = f"In Slack: People → User groups → the group → ⋮ → “Copy group ID” (S…); put it into {name}."
    return (Finding("User groups", False, said, fix),)
