"""What people paste is read, or it is said what it is and where the right thing stands; a secret is never repeated."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain.operations.setup_answers import (
    APP,
    BOT,
    SIGNING,
    AnswerRejected,
    NamedChannel,
    check_slack_secret,
    check_storable,
    parse_address,
    parse_channel,
    parse_database,
    parse_hindsight,
)

TOKEN = "xoxb-1111111111-2222222222-AbCdEf"
SECRET = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "pasted", "value"),
    [
        (BOT, f"  {TOKEN}\r", TOKEN),
        (BOT, f"SLACK_BOT_TOKEN={TOKEN}", TOKEN),
        (BOT, f"export SLACK_BOT_TOKEN='{TOKEN}'", TOKEN),
        (APP, "`xapp-1-A0123ABCD-99-abcdef`", "xapp-1-A0123ABCD-99-abcdef"),
        (SIGNING, SECRET, SECRET),
    ],
)
def test_what_was_meant_is_taken(name: str, pasted: str, value: str) -> None:
    assert check_slack_secret(name, pasted) == value


@pytest.mark.parametrize(
    ("name", "pasted", "says"),
    [
        (BOT, "", "Nothing was entered"),
        (BOT, "xapp-1-A0123ABCD-99-abcdef", "an app-level token. The bot token begins with xoxb-"),
        (APP, TOKEN, "a bot token. The app-level token begins with xapp-"),
        (SIGNING, TOKEN, "a bot token. The signing secret (32 digits of 0-9a-f) stands"),
        (BOT, "xoxp-1-2-3", "a user token"),
        (BOT, "xoxe.xoxp-1-abc", "token rotation"),
        (APP, "xoxc-1-2-3", "another kind"),
        (BOT, "https://hooks.slack.com/services/T0/B0/x", "an address"),
        (APP, "gsk_abcdefgh", "a key of Groq"),
        (SIGNING, "1234567890.1234567890", "the Client ID"),
        (BOT, "A0123ABCD", "the App ID"),
        (APP, SECRET, "a signing secret or client secret"),
        (SIGNING, "AbCdEfGhIjKlMnOpQrStUvWx", "the Verification Token"),
        (SIGNING, "too-short", "nothing that Slack gives out"),
        (BOT, "hunter2", "nothing that Slack gives out"),
        (BOT, "my-one-password-for-all", "nothing that Slack gives out"),
        (APP, "my-one-password-for-all", "nothing that Slack gives out"),
        (SIGNING, "my-one-password-for-all", "nothing that Slack gives out"),
        (BOT, "xoxb-12", "not whole"),
        (BOT, "xoxb-...", "the example"),
        (BOT, f"{TOKEN} {TOKEN}", "white space within it"),
        (BOT, "x${HOME}", "cannot hold this as it is: set SLACK_BOT_TOKEN in the environment"),
    ],
)
def test_anything_else_is_named_without_repeating_it(name: str, pasted: str, says: str) -> None:
    with pytest.raises(AnswerRejected, match=r".") as refused:
        check_slack_secret(name, pasted)
    assert says in str(refused.value)
    assert len(pasted) < 10 or pasted not in str(refused.value)


def test_an_optional_value_may_be_empty() -> None:
    assert check_storable("GROQ_API_KEY", " ") == ""


@pytest.mark.parametrize(
    ("read", "answer", "value"),
    [
        (parse_address, "bot.example.com", "https://bot.example.com"),
        (parse_address, " https://bot.example.com:8443/slack/events/ ", "https://bot.example.com:8443"),
        (parse_address, "https://example.com/precedent/", "https://example.com/precedent"),
        (parse_address, "https://1.1.1.1", "https://1.1.1.1"),
        (parse_database, "postgres://u:p@db/x?ssl=require", "postgresql+asyncpg://u:p@db/x?ssl=require"),
        (parse_database, "sqlite:////var/lib/p.db", "sqlite+aiosqlite:////var/lib/p.db"),
        (parse_database, "/var/lib/p.db", "sqlite+aiosqlite:////var/lib/p.db"),
        (parse_database, "p.db", "sqlite+aiosqlite:///p.db"),
        (parse_hindsight, "http://127.0.0.1:8888/", "http://127.0.0.1:8888/"),
        (parse_channel, " #Alerts-EU".lower(), NamedChannel("alerts-eu")),
        (parse_channel, "アラート", NamedChannel("アラート")),
        (parse_channel, "C0123ABCD", NamedChannel("C0123ABCD", "C0123ABCD")),
        (parse_channel, "<#C0123ABCD|alerts>", NamedChannel("C0123ABCD", "C0123ABCD")),
        (
            parse_channel,
            "https://x.slack.com/archives/C0123ABCD/p1700000000000000",
            NamedChannel("C0123ABCD", "C0123ABCD"),
        ),
        (parse_channel, "https://app.slack.com/client/T0123/C0123ABCD", NamedChannel("C0123ABCD", "C0123ABCD")),
    ],
)
def test_other_answers_are_read(read: Callable[[str], object], answer: str, value: object) -> None:
    assert read(answer) == value


@pytest.mark.parametrize(
    ("read", "answer", "says"),
    [
        (parse_address, "http://bot.example.com", "https addresses alone"),
        (parse_address, "https://bot.example.com:port", "no address"),
        (parse_address, "https://me@bot.example.com", "no user"),
        (parse_address, "https://bot.example.com/?a=b", "no user, ? or #"),
        (parse_address, "https://", "the address alone"),
        (parse_address, "localhost:3000", "from outside"),
        (parse_address, "https://10.0.0.7", "from outside"),
        (parse_address, "bot.internal", "Without a public address use Socket Mode"),
        (parse_database, "mysql://u@h/x", "mysql cannot be used"),
        (parse_database, "yes", "Give a file"),
        (parse_database, "db.example.com", "Give a file"),
        (parse_database, "~/precedent.db", "Give a file"),
        (parse_hindsight, "127.0.0.1:8888", "http:// or https://"),
        (parse_channel, "", "no name of a channel"),
        (parse_channel, "# alerts", "no name of a channel"),
        (parse_channel, "Alerts", "no name of a channel"),
        (parse_channel, "a" * 81, "no name of a channel"),
    ],
)
def test_what_cannot_be_used_says_why(read: Callable[[str], object], answer: str, says: str) -> None:
    with pytest.raises(AnswerRejected) as refused:
        read(answer)
    assert says in str(refused.value)
