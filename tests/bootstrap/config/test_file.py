"""The configuration file: what it adds to the reader, and how a slip in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.bootstrap.config.file import read_configuration, read_directory
from bot.doctor.examine import check_configuration
from bot.doctor.machine import check_webhooks
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import STANDARD, find_host_vendor, find_vendor, resolve_service, resolve_vendor
from bot.parsers import read
from bot.ports.errors import ConfigurationRejected
from bot.settings import Settings

GOOD = """
[vendors.AcmePay]
aliases = ["Acme Pay", "アクメ決済"]
hosts = ["AcmePay.example"]

[vendors.stripe]
aliases = ["our card processor"]

[services.checkout-api]
aliases = ["Checkout", "checkout svc"]
"""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "precedent.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def post(text: str) -> dict[str, str]:
    return {"type": "message", "subtype": "bot_message", "bot_id": "B1", "ts": "1.0", "text": text}


def test_vendors_and_services_of_the_file_are_known_beside_the_table(tmp_path: Path) -> None:
    names = read_directory(written(tmp_path, GOOD))
    assert find_vendor("AcmePay is slow", names=names) == "acmepay"
    assert find_vendor("アクメ決済が応答しない", names=names) == "acmepay"
    assert find_host_vendor("api.acmepay.example", names) == "acmepay"
    assert find_vendor("our card processor is slow", names=names) == "stripe"
    assert find_host_vendor("api.stripe.com", names) == "stripe"
    assert resolve_vendor("Razorpay", names) == "razorpay"
    assert resolve_service("Checkout-SVC", names) == "checkout-api"
    assert resolve_service("ledger", names) == "ledger"
    assert find_vendor("AcmePay is slow") is None


def test_the_reader_uses_what_it_is_given(tmp_path: Path) -> None:
    names = read_directory(written(tmp_path, GOOD))
    found = read(post("CRITICAL: Acme Pay answers 503\nservice: checkout svc"), names=names)
    named = read(post("CRITICAL: Checkout is down"), names=names)
    without = read(post("CRITICAL: Acme Pay answers 503\nservice: checkout svc"))
    assert isinstance(found, Alert)
    assert isinstance(named, Alert)
    assert isinstance(without, Alert)
    assert (found.vendor, found.service, named.service) == ("acmepay", "checkout-api", "checkout-api")
    assert (without.vendor, without.service) == (None, "checkout svc")
    assert found.fingerprint == without.fingerprint


def test_without_a_file_the_table_stands_alone(tmp_path: Path) -> None:
    assert read_directory(None) is STANDARD
    assert read_configuration(written(tmp_path, "")).vendors == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[vendors", "is not TOML"),
        (b"\xff\xfe", "is not UTF-8"),
        ("[vendor.acme]\naliases = ['x y']", "vendor: is not known here"),
        ("[vendors.acme]\nalias = ['x y']", "vendors.acme.alias: is not known here"),
        ("[vendors.acme]\naliases = 'x y'", "vendors.acme.aliases: must be a list"),
        ("[vendors.acme]\naliases = [3]", "vendors.acme.aliases.0: must be a text"),
        ("[vendors.acme]\naliases = ['']", "vendors.acme.aliases.0: is too short"),
        ("[vendors.acme]\nhosts = ['https://acme.example/x']", "vendors.acme.hosts.0: is not a plain host name"),
        ("[services.a1]\naliases = ['Check out']\n[services.b1]\naliases = ['check-out']", "services.b1: “check-out” is claimed by services.a1, too"),
        ("[vendors.acme]\nhosts = ['x.example']\n[vendors.bcme]\nhosts = ['x.example']", "claimed by vendors.acme"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_file_key_and_reason(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigurationRejected) as told:
        read_directory(file)
    assert str(told.value).startswith(f"{file}: ")
    assert said in str(told.value)


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(ConfigurationRejected, match=r"none\.toml: cannot be read: No such file"):
        read_configuration(Path("/nowhere/none.toml"))


def test_doctor_says_what_is_configured_and_what_is_wrong(tmp_path: Path) -> None:
    good, bad = written(tmp_path, GOOD), tmp_path / "bad.toml"
    bad.write_text("[vendors.acme]\nalias = 1")
    assert check_configuration(Settings(precedent_config=None))[0].ok is None
    found, _ = check_configuration(Settings(precedent_config=good))
    assert (found.ok, found.detail) == (True, f"{good}: 2 vendors, 1 services")
    wrong, _ = check_configuration(Settings(precedent_config=bad))
    assert (wrong.ok, "vendors.acme.alias" in wrong.detail) == (False, True)


@pytest.mark.parametrize(("token", "ok"), [(None, None), ("short", False), ("0123456789abcdef", True)])
def test_doctor_looks_at_the_webhook_token(token: str | None, ok: bool | None) -> None:
    assert check_webhooks(Settings(webhook_token=token)).ok is ok
