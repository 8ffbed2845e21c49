"""Deploy posts: read only in the listed channels, and of each only service, version, environment and time are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store import open_store
from bot.bootstrap.wiring.evidence import wrap_reader
from bot.domain.alerts.alert import DeployAnnouncement
from bot.domain.catalog.vendors import Service, build_vendor_directory
from bot.parsers import read
from bot.parsers.intake.deploy_post import find_deploy
from bot.slack.inbound.events import OwnIdentity, receive
from bot.workflows.evidence.deploys import RecordDeployPost
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds

NAMES = build_vendor_directory((), (Service("checkout-api", ("Checkout",)), Service("ledger")))
CASES = Path(__file__).parent.parent.parent / "parsers" / "cases"
POST = "Deployed checkout v3.2.1 to production (commit by anna@example.com: fix the very secret thing)"


def event(text: str = POST, channel: str = "C0DEPLOYS", **more: Any) -> dict[str, Any]:
    return {
        "type": "message", "subtype": "bot_message", "bot_id": "B1", "channel": channel, "channel_type": "channel",
        "ts": "1795420000.000100", "event_ts": "1795420000.000100", "text": text, **more,
    }  # fmt: skip


def kept_of(said: Mapping[str, Any], channels: frozenset[str] = frozenset({"C0DEPLOYS"})) -> Any:
    reading = wrap_reader(lambda e: read(e, names=NAMES), channels, NAMES)
    body = {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": said}
    return receive(body, reading, OwnIdentity("B0BOT", "U0BOT"))


@pytest.mark.parametrize(
    ("text", "deployed"),
    [
        (POST, DeployAnnouncement("checkout-api", "v3.2.1", "production")),
        ("Deployment of ledger finished: 4f2a9bc on staging", DeployAnnouncement("ledger", "4f2a9bc", "staging")),
        ("ledger has been deployed", DeployAnnouncement("ledger")),
        ("Deployed facade v7 to production", None),
        ("released ledger 10.20.30.40 to everyone, deadbeef effaced", DeployAnnouncement("ledger")),
        ("checkout-api deployment finished in 12.5 s, 1234567 times", DeployAnnouncement("checkout-api")),
    ],
)
def test_what_a_post_says_was_deployed(text: str, deployed: DeployAnnouncement | None) -> None:
    assert find_deploy(event(text), NAMES) == deployed


def test_fields_of_a_card_come_first() -> None:
    fields = [{"title": "Service", "value": "Checkout"}, {"title": "Environment", "value": "Staging / eu"}]
    card = event("ledger's pipeline deployed to prod", attachments=[{"text": "done", "fields": fields}])
    assert find_deploy(card, NAMES) == DeployAnnouncement("checkout-api", None, "staging")


def test_not_a_word_of_the_post_is_kept() -> None:
    received = kept_of(event())
    assert received.kind == "deploy"
    assert received.body["event"]["deployed"] == {
        "service": "checkout-api",
        "version": "v3.2.1",
        "environment": "production",
    }
    assert not [word for word in ("anna", "secret", "commit", "Deployed") if word in json.dumps(received.body)]


def test_elsewhere_and_of_people_and_of_others_services_nothing_is_kept() -> None:
    by_a_person = {k: v for k, v in event().items() if k not in {"subtype", "bot_id"}} | {"user": "U1"}
    for said, channels in (
        (event(channel="C0OTHER"), frozenset({"C0DEPLOYS"})),
        (event(), frozenset[str]()),
        (by_a_person, frozenset({"C0DEPLOYS"})),
        (event("Deployed facade v7 to production"), frozenset({"C0DEPLOYS"})),
    ):
        received = kept_of(said, channels)
        assert (received.kind, received.body) == ("message", None)


def test_an_alert_in_a_listed_channel_is_an_alert() -> None:
    received = kept_of(event("CRITICAL: Checkout is down, error rate 18 %"))
    assert (received.kind, "alert" in received.body["event"]) == ("message", True)


@dataclass
class Settled:
    """An inbox of which only settling is used."""

    rows: list[Any] = field(default_factory=list)

    async def acknowledge(self, row: Any) -> None:
        self.rows.append(row)


async def test_a_post_and_its_edit_are_one_deploy(tmp_path: Path) -> None:
    store = await open_store(fresh(tmp_path / "d.db"), FakeClock(), FakeIds())
    inner = event("Deployed checkout v3.2.2 to production")
    edit = {
        **event(),
        "subtype": "message_changed",
        "message": inner,
        "event_ts": "1795420060.000200",
        "ts": "1795420060.000200",
    }
    keep = RecordDeployPost(store.deploy_log, store.inbox)
    for number, said in enumerate((event(), edit)):
        received = kept_of(said)
        assert received.kind == "deploy"
        await store.inbox.receive(type(received)(f"Ev{number}", received.natural_key, received.kind, received.body))
        (row,) = await store.inbox.claim(1)
        await keep(row)
    (one,) = await store.deploy_log.list_latest("checkout-api", FakeClock().now().replace(year=2030), 5)
    assert (one.version, one.told_by, int(one.at.timestamp())) == ("v3.2.2", "post", 1795420000)
    assert sum((await store.inbox_admin.count_rows()).values()) == 0
    await store.close()


def test_a_post_of_argo_cd_is_read() -> None:
    said = json.loads((CASES / "argocd" / "deployed.json").read_text(encoding="utf-8")) | {"channel": "C0DEPLOYS"}
    names = build_vendor_directory((), (Service("checkout-api", ("checkout-prod",)),))
    reading = wrap_reader(lambda e: read(e, names=names), frozenset({"C0DEPLOYS"}), names)(said)
    assert getattr(reading, "deployed", None) == DeployAnnouncement("checkout-api", "9f3c11d", "prod")
