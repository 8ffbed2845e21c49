"""Masking: secrets go, everything that looks like one stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.text.redaction import has_secret_name_last, is_secret_name, mask, mask_url, mask_value

A40 = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz1A2b3C4"

# (text, the part that must not survive). Built from pieces, so that no scanner takes this file for a leak.
SECRETS = [
    ("token xox" + "b-123456789012-1234567890123-" + A40[:24], A40[:24]),
    ("xox" + "p-999999999-888888888-" + A40[:20], A40[:20]),
    ("xapp" + "-1-A0123-456-" + A40, A40),
    ("https://hooks.slack.com/services/" + "T0001/B0002/" + A40[:24], A40[:24]),
    ("gh" + "p_" + A40[:36], A40[:36]),
    ("gh" + "s_" + A40[:36], A40[:36]),
    ("github" + "_pat_11AAAA_" + A40, A40),
    ("gl" + "pat-" + A40[:20], A40[:20]),
    ("gsk" + "_" + A40, A40),
    ("hsk" + "_" + A40[:20], A40[:20]),
    ("sk-" + A40, A40),
    ("sk-ant-" + "api03-" + A40, A40),
    ("sk_" + "live_" + A40[:24], A40[:24]),
    ("rk_" + "live_" + A40[:24], A40[:24]),
    ("whsec" + "_" + A40[:32], A40[:32]),
    ("rzp" + "_live_" + A40[:14], A40[:14]),
    ("AKIA" + "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
    ("ASIA" + "QRSTUVWXYZ234567", "QRSTUVWXYZ234567"),
    ("AIza" + A40[:35], A40[:35]),
    ("ya29" + "." + A40, A40),
    ("SG" + "." + A40[:22] + "." + A40, A40),
    ("npm" + "_" + A40[:36], A40[:36]),
    ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0." + A40, A40),
    ("-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN PRIVATE " + "KEY-----\nMIIEcut", "MIIEcut"),
    ("postgres://app:hunter2@db.internal:5432/x", "hunter2"),
    ("redis://:s3cr3t@cache:6379/0", "s3cr3t"),
    ("amqp://user:p%40ss@mq/vhost", "p%40ss"),
    ("https://0123456789abcdef0123456789abcdef@o1.ingest.example/5", "0123456789abcdef0123456789abcdef"),
    ("Authorization: Bearer " + A40, A40),
    ("authorization: basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA=="),
    ("curl -H 'Authorization: token " + A40 + "'", A40),
    ("bearer " + A40, A40),
    ("password=hunter2", "hunter2"),
    ("password: hunter2!", "hunter2"),
    ('"api_key": "abc123def456"', "abc123def456"),
    ("DB_PASSWORD=correcthorse", "correcthorse"),
    ("client_secret = topsecretvalue", "topsecretvalue"),
    ("aws_secret_access_key: " + A40, A40),
    ("X-Api-Key: 8f3a9b2c", "8f3a9b2c"),
    ("session_token=abcdef", "abcdef"),
    ("passwort: geheim99", "geheim99"),
    ("contraseña: secreta1", "secreta1"),
    ('{\\"password\\":\\"Zq9Xw7LeAk12\\"}', "Zq9Xw7LeAk12"),
    ('{\\\\\\"password\\\\\\":\\\\\\"Zq9Xw7LeAk12\\\\\\"}', "Zq9Xw7LeAk12"),
    ("--password Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("--password=Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ('--db-password "Zq9Xw7LeAk12"', "Zq9Xw7LeAk12"),
    ("curl -u admin:Zq9Xw7LeAk12 https://h.example", "Zq9Xw7LeAk12"),
    ("curl --user admin:Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("mysql -u root -pZq9Xw7LeAk12 ledger", "Zq9Xw7LeAk12"),
    ("mysqldump --host db-1 -u root -pZq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("sshpass -p Zq9Xw7LeAk12 ssh db-1", "Zq9Xw7LeAk12"),
    ("redis-cli -h cache -a Zq9Xw7LeAk12 ping", "Zq9Xw7LeAk12"),
    ("the password is Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("password Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("password%3DZq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("ｐassword： Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("pass\u200bword: Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("PGPASSWORD=Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("api key: Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("*Password:*\nZq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("\n*DB Password*\n`Zq9Xw7LeAk12`", "Zq9Xw7LeAk12"),
    ("*Password:* `Zq9Xw7LeAk12`", "Zq9Xw7LeAk12"),
    ("https://h.example/?key=Zq9Xw7LeAk12&a=1", "Zq9Xw7LeAk12"),
    ("https://h.example/x?a=1&sig=Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("https://h.example/x?access_token=Zq9Xw7LeAk12", "Zq9Xw7LeAk12"),
    ("card 4111 1111 1111 1111 declined", "4111 1111 1111 1111"),
    ("card 5500-0000-0000-0004 declined", "5500-0000-0000-0004"),
    ("pan=378282246310005", "378282246310005"),
    ("mail to asha.rao+ops@kestrelpay.example now", "asha.rao+ops@kestrelpay.example"),
    ("call +91 98765 43210", "98765 43210"),
    ("call +1 (415) 555-0134", "555-0134"),
    ("call 415-555-0134", "415-555-0134"),
]

LOOK_ALIKES = [
    "9f3c11d",
    "commit 9f3c11d2ab0c4e5f6a7b8c9d0e1f2a3b4c5d6e7f",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ledger-writer-7c9d5b6f8-9vj2r",
    "trace_id=4bf92f3577b34da6a3ce929d0e0e4736",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "2026-11-29T20:14:00.123456Z",
    "2026-11-29 20:14:00",
    "1795981200.000100",
    "1795981200000",
    "550e8400-e29b-41d4-a716-446655440000",
    "48,201 (limit 10,000)",
    "http_502=311 http_504=88",
    "p95 2.317 > 1.5",
    "127.0.0.1:19180",
    "10.8.0.21",
    "account 111122223333",
    "arn:aws:rds:ap-south-1:111122223333:db:ledger-prod",
    "incident Q1KZ88LM0PQ7TT",
    "CHECKOUT-API-3K2",
    "order 1234567890123456",
    "id 4111111111111112",
    "Token expired for user 42",
    "token: expired",
    "password: invalid",
    "secret rotation due",
    "rotate the razorpay webhook secret, it is CRITICAL.",
    "api_key: missing",
    "password reset failed",
    "tokens: 4096",
    "max_tokens=2048",
    "@slack-prod-alerts @pagerduty-Checkout",
    "<@U07DEV001>",
    "sk-prod-cluster-1",
    "GATEWAY_TIMEOUT",
    "skill-service-5d8f7c9b4-abcde",
    "https://grafana.acme.example/d/enc01?orgId=1&viewPanel=4",
    "https://app.datadoghq.eu/monitors/77120?group=host%3Apg-ledger-02&from_ts=1795980000000",
    "git@github.com",
    "user@10.0.0.1",
    "registry.acme.example/payments:4.19.0",
    "v1.2.3-rc.4+build.5",
    "00:11:22:33:44:55",
    "fe80::1ff:fe23:4567:890a",
    "29/11/26 20:03:00",
    "release 20261129.201400",
    "build 2026112920140012",
    "basic auth failed",
    "password is wrong",
    "secret payments-db-v2 not found",
    "session id 4bf92f3577b34da6",
    "docker run -u 1000:1000 app",
    "ssh -p 2222 db-1",
    "mongo --port 27017 -p",
    "the password was changed 3 times",
    "token v2alpha1 failed",
    "--token-file /etc/app",
    "https://h.example/?code=504",
    "ｐ99 ＞ 1ms in ａｐ-south-1",
    "family 👩\u200d👧 is fine",
    "bearer of bad news",
    "100-200-300 requests",
    "queue depth 9876543210",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_does_not_survive_and_is_counted(text: str, secret: str) -> None:
    masked, counts = mask(f"before {text} after")
    assert secret not in masked
    assert masked.startswith("before")
    assert sum(counts.values()) >= 1


@pytest.mark.parametrize("text", [text for text in LOOK_ALIKES if not text.startswith("git@")])
def test_a_look_alike_stays_as_it_is(text: str) -> None:
    assert mask(text) == (text, {})


def test_enough_of_both_are_tried() -> None:
    assert len(SECRETS) >= 40
    assert len(LOOK_ALIKES) >= 41


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_masking_twice_changes_nothing(text: str, secret: str) -> None:
    once, _ = mask(text)
    assert mask(once) == (once, {})


@given(st.text(max_size=300))
def test_masking_any_text_twice_changes_nothing(text: str) -> None:
    once, _ = mask(text)
    assert mask(once)[0] == once


def test_the_name_of_a_secret_stays() -> None:
    assert mask("DB_PASSWORD=correcthorse next=1")[0] == "DB_PASSWORD=[masked:secret] next=1"


def test_counts_are_by_rule() -> None:
    _, counts = mask("password=hunter22 and a@b.example and c@d.example")
    assert counts == {"secret": 1, "email": 2}


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://u:p@h.example/x?a=1", "https://[masked:url_password]@h.example/x?a=1"),
        ("https://h.example/x?token=abc&a=1", "https://h.example/x?token=[masked:secret]&a=1"),
        ("https://h.example/?access_token=abc#frag", "https://h.example/?access_token=[masked:secret]#frag"),
        ("https://h.example/d/enc01?orgId=1&viewPanel=4", "https://h.example/d/enc01?orgId=1&viewPanel=4"),
        ("https://h.example/mail/a@b.example", "https://h.example/mail/a@b.example"),
        ("no address", "no address"),
        ("https://h.example/" + "gh" + "p_" + A40[:36], "https://h.example/[masked:github_token]"),
    ],
)
def test_links_lose_only_user_information_and_secret_parameters(url: str, kept: str) -> None:
    assert mask_url(url) == kept
    assert mask_url(kept) == kept


@pytest.mark.parametrize(
    "label", ["Password", "api_key", "*Password:*", "DB password", "pass\u200bword", "ｐassword", "API Key"]
)
def test_all_that_a_secrets_label_holds_is_masked(label: str) -> None:
    assert is_secret_name(label)
    assert mask_value(label, "hx and more") == "[masked:secret]"
    assert mask_value(label, mask_value(label, "hx and more")) == "[masked:secret]"
    assert mask_value(label, "[masked:aws_key] old") == "[masked:aws_key] old"
    assert mask_value(label, "expired") == "expired"
    assert mask_value(label, "-") == "-"


@pytest.mark.parametrize("label", ["Secret name", "Token count", "Password reset by", "Note", "Service", ""])
def test_other_labels_are_no_names_of_secrets(label: str) -> None:
    assert not is_secret_name(label)
    assert mask_value(label, "hx and more") == "hx and more"
    assert mask_value(label, "password=hunter22") == "password=[masked:secret]"


def test_a_text_that_ends_in_a_secrets_name_calls_the_next_one() -> None:
    assert has_secret_name_last("the *DB password:* ")
    assert has_secret_name_last("ｐassword：")
    assert not has_secret_name_last("the password was changed")
