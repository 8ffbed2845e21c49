"""The texts of `precedent setup`, step by step."""

from __future__ import annotations

from bot.domain.operations.setup_answers import APP, BOT, SIGNING
from bot.domain.operations.setup_steps import SlackConnection

HELLO = (
    "This sets Precedent up in your Slack workspace. Each answer is checked at once and kept in {file}. Ctrl-C stops; the"
    " next `precedent setup` goes on from there."
)
WAYS = (
    "  1  Socket Mode (recommended): the bot connects to Slack; nothing of yours needs to be reachable from outside.\n"
    "  2  HTTP: Slack calls a public https address of yours."
)
CREATE = (
    "Open this link, choose your workspace, then press Next and Create. Everything is filled in. (Where apps need approval,"
    " an admin gets the request; docs/security.md says what each permission is for.)"
)
NO_LINK = (
    "If the link does not work: `precedent setup --manifest{more}` prints the manifest. At https://api.slack.com/apps press"
    " Create New App, From a manifest, and paste it."
)
WHERE_TO_LOOK = {
    BOT: (
        "On the app's page (https://api.slack.com/apps, your app), under OAuth & Permissions, press Install to your"
        " workspace, then Allow. Copy the Bot User OAuth Token that the page shows then. It begins with xoxb-."
    ),
    APP: (
        "On the app's page, under Basic Information, App-Level Tokens: press Generate Token and Scopes, give it any name,"
        " press Add Scope, choose connections:write, press Generate. Copy the token. It begins with xapp-."
    ),
    SIGNING: (
        "On the app's page, under Basic Information, App Credentials: press Show beside Signing Secret and copy it (not the"
        " Client Secret above it)."
    ),
}
PASTE = {
    BOT: "Paste the bot token (it is not shown):",
    APP: "Paste the app-level token (it is not shown):",
    SIGNING: "Paste the signing secret (it is not shown):",
}
SIGNING_KEPT = "It cannot be tried before Slack calls: a wrong one shows as 401 in the app's Event Subscriptions."
DATABASE = (
    "Enter keeps incidents in a file of this machine: {file}. For PostgreSQL give its address, like"
    " postgresql://user:password@host/precedent."
)
MODEL = (
    "Briefs are computed without one. With a Groq key a model may add a hypothesis, marked as such, from masked facts"
    " (docs/security.md). Enter goes without."
)
HINDSIGHT = "Memory is built in. If you run a Hindsight server, give its address. Enter goes without."
CHANNEL = "In which channel are alerts posted? (#alerts)"
HTTP_INVITE = "In Slack, type in #{name}: /invite @Precedent. Then press Enter."
HTTP_NEXT = (
    "With HTTP events arrive once the bot runs. Start `precedent serve` where {address} leads to it; `precedent doctor` asks that"
    " address as Slack does. Then let Slack verify it: on the app's page, under App Manifest, it asks for that; under Event"
    " Subscriptions the Request URL must say Verified."
)
TEST = (
    "I can post a test there now: one message that says that it is a test, and in its thread the brief that it gets."
    " Everyone in #{name} sees it; no incident is opened and nothing is kept."
)
SEE = (
    "In #{name} you see “This is a test, not an alert”, and in its thread a brief. It says INSUFFICIENT_MEMORY where nothing"
    " like it was recorded yet; once the fix of an alert is recorded, the next alert like it brings that back."
)
SHARED = (
    "Another organisation reads #{name}, so nothing is posted there until a steward allows it (/precedent channel)."
)
OVERRIDDEN = (
    "{name} is also set in the environment (or as {name}_FILE) with another value, which goes before {file}. Take it out"
    " there, or the bot uses the old one."
)
NEXT = (
    "Next:\n"
    "  precedent serve\n"
    "     runs the bot here; for good, docs/install.md has systemd, containers, Kubernetes\n"
    "  precedent doctor\n"
    "     says at any time what is wrong and how to mend it\n"
    "  precedent import FILE\n"
    "     brings in incidents that you know already (docs/import.md)\n"
    "While it runs, let a monitoring tool send a test alert to the channel: what people type is not taken for one."
    " `precedent setup` again checks all of this and keeps what works."
)
CONNECTED = {
    SlackConnection.SOCKET: "Slack reaches the bot by Socket Mode.",
    SlackConnection.HTTP: "Slack reaches the bot by HTTP.",
}
