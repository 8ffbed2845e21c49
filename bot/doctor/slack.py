"""Check Slack: the kinds of tokens, whether Slack accepts them, clock, scopes, and Socket Mode. Prints no token."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from bot.bootstrap.system import SystemClock
from bot.bootstrap.wiring.slack import add_final_slash, build_slack_client
from bot.doctor.finding import Finding
from bot.ports.clock import Clock
from bot.ports.errors import ChatAuthRejected, ChatOutcomeUnknown, PrecedentError
from bot.settings import Settings
from bot.slack.client.app_info import AppIdentity, fetch_app_identity, fetch_socket_warning, read_app_id
from bot.slack.client.chat import ASKS_TO_WAIT, SlackChat

PAGE = "api.slack.com/apps → your app →"
RESTART = "restart the bot"
SKEW_S = 60.0
THROUGH_PROXY = "through the proxy"
SIGNED_WITHIN_S = 300.0
OPTIONAL = {"files:write": "digests come without their picture, and post-mortems cannot be posted"}
# What does not work without it.
SCOPES = {
    "app_mentions:read": "it does not hear when it is spoken to",
    "channels:history": "it does not see alerts in public channels",
    "channels:read": "it cannot tell a public channel from a shared one",
    "chat:write": "it cannot post",
    "commands": "no slash commands and no message menu",
    "groups:history": "it does not see alerts in private channels",
    "groups:read": "it does not know private channels, whose incidents must stay there",
    "im:history": "it does not hear direct messages",
    "im:write": "it cannot ask anybody what fixed an incident",
    "reactions:read": "it does not see a reaction that marks a fix",
    "reactions:write": "it cannot mark a warning as seen",
    "users:read": "no names, no time zones, and no stewards",
}
NEEDED_SCOPES = tuple(SCOPES)
COPY_BOT = f"{PAGE} OAuth & Permissions: copy “Bot User OAuth Token” (xoxb-…) to SLACK_BOT_TOKEN"
COPY_APP = (
    f"{PAGE} Basic Information → App-Level Tokens: copy the token (xapp-…) to SLACK_APP_TOKEN; if there is none,"
    " “Generate Token and Scopes” with the scope connections:write"
)
NEW_APP_TOKEN = (
    f"{PAGE} Basic Information → App-Level Tokens → “Generate Token and Scopes” with the scope connections:write;"
    f" put it into SLACK_APP_TOKEN, {RESTART}."
)
REINSTALL = f"{PAGE} Install App → “Reinstall to Workspace”; copy the new token to SLACK_BOT_TOKEN, {RESTART}."
# What Slack answers to the bot token, in words, and what to do.
BOT_TOKEN_REFUSALS = {
    "invalid_auth": (
        "Slack does not know this token: it is mistyped, cut off, or of another workspace",
        f"{COPY_BOT}, {RESTART}.",
    ),
    "token_revoked": ("the token was revoked: the app was uninstalled, or somebody revoked it", REINSTALL),
    "token_expired": ("the token has expired: token rotation is on, which the bot does not use", REINSTALL),
    "account_inactive": (
        "the app or the person who installed it was removed from the workspace",
        f"A workspace admin allows the app again (Slack → Manage apps). {REINSTALL}",
    ),
    "not_allowed_token_type": ("it is another kind of token than a bot token", f"{COPY_BOT}, {RESTART}."),
    "org_login_required": (
        "the workspace is being moved to another organisation",
        "Wait until Slack says that it is done.",
    ),
    "team_access_not_granted": (
        "the app may not be used in this workspace",
        "An organisation admin adds the app to this workspace (Slack admin → Apps).",
    ),
}
APP_TOKEN_REFUSALS = {
    "missing_scope": ("the token lacks the scope connections:write", NEW_APP_TOKEN),
    "token_revoked": ("the token was revoked", NEW_APP_TOKEN),
    "invalid_auth": (
        "Slack does not know this token: it is mistyped, cut off, or was revoked",
        f"{COPY_APP}; {RESTART}.",
    ),
}
TOKENS = (
    (
        "Bot token",
        "SLACK_BOT_TOKEN",
        "xoxb-",
        f"{COPY_BOT}. No app yet: `precedent setup`.",
        True,
    ),
    ("App token", "SLACK_APP_TOKEN", "xapp-", f"{COPY_APP}.", False),
)
TOKEN_KINDS = {
    "xoxb-": "a bot token",
    "xapp-": "an app-level token",
    "xoxp-": "a user's token",
    "xoxe": "a token that expires (token rotation)",
    "xoxs-": "a legacy token",
    "xoxc-": "a browser's token",
    "xoxa-": "a legacy token",
}
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")
_COPY_SECRET = (
    f"{PAGE} Basic Information → App Credentials → Signing Secret → “Show”: copy it to SLACK_SIGNING_SECRET, {RESTART}."
)


SOCKET_MODE_OFF = Finding(
    "Connection",
    False,
    "Slack says that Socket Mode is not turned on: no event and no button reaches the bot",
    f"{PAGE} Socket Mode → “Enable Socket Mode” on; then {RESTART}. For HTTP instead: unset SLACK_APP_TOKEN.",
)


@dataclass(frozen=True, slots=True)
class SlackExamination:
    """The result of the checks of Slack."""

    findings: tuple[Finding, ...]
    chat: SlackChat | None = None
    # None if Slack was not reached or does not accept the token
    own: AppIdentity | None = None
    # False if something is wrong with the connection that delivers events
    connects: bool = True


async def check_slack(settings: Settings, clock: Clock | None = None) -> AsyncIterator[Finding]:
    """Yield the findings: tokens are of the right kind, Slack accepts them, its clock agrees with ours, the app has the
    scopes that the bot needs, and Socket Mode works."""
    for finding in (await examine_slack(settings, clock or SystemClock())).findings:
        yield finding


async def examine_slack(settings: Settings, clock: Clock) -> SlackExamination:
    """Return the findings, and what later checks need."""
    kinds = check_token_kinds(settings)
    if any(f.ok is False and f.check == "Bot token" for f in kinds):
        return SlackExamination(kinds, connects=False)
    chat = SlackChat(build_slack_client(settings), clock)
    try:
        own = await fetch_app_identity(chat)
    except ChatAuthRejected as problem:
        says, fix = BOT_TOKEN_REFUSALS.get(problem.code, (f"Slack refuses it ({problem.code})", REINSTALL))
        return SlackExamination(
            (*kinds, Finding("Slack", False, f"SLACK_BOT_TOKEN: {says} ({problem.code})", fix)), connects=False
        )
    except PrecedentError as problem:
        return SlackExamination((*kinds, _build_unreachable(settings, chat, problem)), connects=False)
    reached = Finding("Slack", True, f"connected to {own.team} as @{own.name} ({own.user_id})")
    app = () if is_wrong_app(kinds) else await check_app_token(settings, chat, own)
    found = (*kinds, reached, *check_clock(settings, own, clock), *check_scopes(own), *app)
    connects = not any(f.ok is False and f.check in {"App token", "Connection", "Signing secret"} for f in found)
    return SlackExamination(found, chat, own, connects)


def is_wrong_app(kinds: Sequence[Finding]) -> bool:
    """Return whether the app token is recognizably a wrong one."""
    return any(f.ok is False and f.check == "App token" for f in kinds)


def _build_unreachable(settings: Settings, chat: SlackChat, problem: PrecedentError) -> Finding:
    proxy = chat.client.proxy
    if proxy:
        said = f"{settings.slack_api_url} cannot be reached {THROUGH_PROXY} {proxy}"
        fix = (
            "Slack's client takes it from HTTPS_PROXY, https_proxy, HTTP_PROXY or http_proxy, whatever NO_PROXY says:"
            " correct it, or unset all four for the bot."
        )
        return Finding("Slack", False, said, fix)
    if isinstance(problem, ChatOutcomeUnknown):
        said = f"{settings.slack_api_url} does not answer as Slack does"
    elif str(problem) == ASKS_TO_WAIT:
        return Finding("Slack", False, "Slack asks to wait: too many calls", "Run this again in a minute.")
    else:
        said = f"{settings.slack_api_url} cannot be reached; the token was not looked at"
    fix = "Check the network and DNS of this machine, HTTPS_PROXY if there must be a proxy, and SLACK_API_URL (normally not set)."
    return Finding("Slack", False, said, fix)


def check_clock(settings: Settings, own: AppIdentity, clock: Clock) -> tuple[Finding, ...]:
    """Check that this machine's clock is within a minute of Slack's."""
    if own.there is None:
        return ()
    seconds = (clock.now() - own.there).total_seconds()
    if abs(seconds) < SKEW_S:
        return (Finding("Clock", True, "within a minute of Slack's"),)
    said = f"this machine's clock is {abs(seconds) / 60:.0f} min {'ahead of' if seconds > 0 else 'behind'} Slack's"
    harm = "times in briefs are wrong"
    if not settings.slack_app_token and abs(seconds) > SIGNED_WITHIN_S:
        harm = "every request of Slack is refused as too old (401)"
    return (
        Finding(
            "Clock",
            False,
            f"{said}: {harm}",
            "sudo timedatectl set-ntp true (or start chrony), on the host, not in the container.",
        ),
    )


def check_scopes(own: AppIdentity) -> tuple[Finding, ...]:
    """Check the granted scopes, and say what each missing one is for."""
    if not own.scopes:
        return ()
    missing = [scope for scope in SCOPES if scope not in own.scopes]
    without = [
        Finding("Files", None, f"the scope {s} is not granted: {what}")
        for s, what in OPTIONAL.items()
        if s not in own.scopes
    ]
    if missing:
        fix = (
            f"{PAGE} OAuth & Permissions → Bot Token Scopes → “Add an OAuth Scope”: {', '.join(missing)}; then Install App →"
            " “Reinstall to Workspace”."
        )
        lost = "; ".join(f"{scope} ({SCOPES[scope]})" for scope in missing)
        return (Finding("Scopes", False, f"missing: {lost}", fix), *without)
    return (*without, Finding("Scopes", True, "all that are needed"))


async def check_app_token(settings: Settings, chat: SlackChat, own: AppIdentity) -> tuple[Finding, ...]:
    """Check Socket Mode: Slack accepts the app-level token, it belongs to the same app, and Socket Mode is on."""
    if not settings.slack_app_token:
        return ()
    token = settings.slack_app_token.get_secret_value()
    app = read_app_id(token)
    if app and own.app_id and app != own.app_id:
        said = f"SLACK_APP_TOKEN is of the app {app}, SLACK_BOT_TOKEN of the app {own.app_id}: no event comes"
        fix = f"Take both from one app: api.slack.com/apps/{own.app_id}/general → App-Level Tokens, to SLACK_APP_TOKEN; {RESTART}."
        return (Finding("App token", False, said, fix),)
    try:
        warning = await fetch_socket_warning(chat, token, add_final_slash(settings.slack_api_url))
    except ChatAuthRejected as problem:
        says, fix = APP_TOKEN_REFUSALS.get(problem.code, (f"Slack refuses it ({problem.code})", NEW_APP_TOKEN))
        return (Finding("App token", False, f"SLACK_APP_TOKEN: {says} ({problem.code})", fix),)
    except PrecedentError as problem:
        return (Finding("App token", None, f"could not be tried now: {problem}"),)
    if "not turned on" in warning:
        return (SOCKET_MODE_OFF,)
    return (Finding("App token", True, "Slack opens a connection with it (Socket Mode)"),)


def check_token_kinds(settings: Settings) -> tuple[Finding, ...]:
    """Check each token by its prefix (the three are easily confused), and how Slack reaches the bot."""
    wrong = tuple(
        Finding(what, False, f"{name} {problem}", where)
        for what, name, prefix, where, needed in TOKENS
        if (problem := _find_token_problem(getattr(settings, name.lower()), prefix, needed=needed))
    )
    if any(finding.check == "App token" for finding in wrong):
        return wrong
    if settings.slack_app_token:
        return (*wrong, Finding("Connection", True, "Socket Mode"))
    if settings.slack_signing_secret:
        bad = _check_signing_secret(settings.slack_signing_secret.get_secret_value())
        told = Finding("Connection", True, f"signed HTTP on port {settings.port}, path /slack/events")
        return (*wrong, bad or told)
    neither = Finding(
        "Connection",
        False,
        "neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set: nothing of Slack reaches the bot",
        f"Socket Mode (nothing need be reachable): {COPY_APP}. Or HTTP: `precedent setup --url https://YOUR-HOST`.",
    )
    return (*wrong, neither)


def _check_signing_secret(secret: str) -> Finding | None:
    """Check that a signing secret has 32 hexadecimal digits; another secret in its place is recognized by its form."""
    if _SIGNING_SECRET.fullmatch(secret):
        return None
    kind = _find_token_kind(secret)
    problem = f"is {kind}" if kind else f"has {len(secret)} characters and not 32 digits of 0-9a-f"
    said = f"SLACK_SIGNING_SECRET {problem}: it is no signing secret, and every request of Slack is refused"
    return Finding("Signing secret", False, said, _COPY_SECRET)


def _find_token_kind(value: str) -> str | None:
    return next((kind for prefix, kind in TOKEN_KINDS.items() if value.startswith(prefix)), None)


def _find_token_problem(token: SecretStr | None, prefix: str, *, needed: bool) -> str | None:
    """Return what is wrong with a token, as far as its form shows, or None."""
    value = token.get_secret_value() if token else ""
    if not value:
        return "is not set" if needed else None
    if not value.startswith(prefix):
        return f"is {_find_token_kind(value) or 'no token of Slack'}: it must begin with {prefix}"
    if "..." in value or "…" in value:
        return "is still the example's: put your own in"
    return (
        "has a space or a quote in it: it was copied with something around it" if re.search(r"[\s\"']", value) else None
    )
