"""What any store must do with deploys that the bot is told of, and with what it tells of alerts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.adapters.store import Store
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import AlertState
from bot.domain.alerts.notification import Notification
from bot.domain.brief.timings import BriefTimings
from bot.domain.evidence.deploys import Deploy
from bot.domain.recall.query import OPERATOR
from bot.ports.unit_of_work import Changes
from tests.fakes import START

ONE = Deploy("Checkout-API", START, "v142", "prod", "ci ✗", "started", "https://ci.example/142", "k1", "webhook")


class DeploysContract:
    """Mixed into the contract of each database."""

    async def test_a_deploy_is_kept_once_and_found_by_its_service(self, store: Store) -> None:
        log = store.deploy_log
        later = replace(ONE, at=START + timedelta(minutes=5), version="v143", key="k2")
        assert [await log.record(d) for d in (ONE, later, replace(ONE, state="success"))] == [True, True, False]
        assert await log.list_latest("checkout api", START + timedelta(hours=1), 5) == (
            later,
            replace(ONE, state="success"),
        )
        assert await log.list_latest("checkout-api", START, 5) == (replace(ONE, state="success"),)
        assert await log.list_latest("checkout-api", START + timedelta(hours=1), 1) == (later,)
        assert await log.list_latest("ledger", START, 5) == ()

    async def test_old_deploys_are_forgotten(self, store: Store) -> None:
        await store.deploy_log.record(ONE)
        await store.deploy_log.record(replace(ONE, at=START + timedelta(days=2), key="k2"))
        before = START + timedelta(days=1)
        assert (await store.retention.delete_expired(before=before, audit_before=before)).deploys == 1
        assert len(await store.deploy_log.list_latest("checkout-api", START + timedelta(days=3), 5)) == 1

    async def test_the_last_alert_of_each_channel_and_what_is_kept_of_an_incident(self, store: Store) -> None:
        assert await store.brief_timings.list_last_alerts(OPERATOR, START, 5) == ()
        at = [START + timedelta(minutes=n) for n in range(6)]
        places = ("C1", "C2", "C1", "C3", "C1", "C2")
        seen = tuple(
            Notification(f"n{n}", "f", "private:C3" if channel == "C3" else "public", at[n], AlertState.FIRING, channel=channel,
                   ts=str(n), root_ts=str(n), incident_id="INC-1" if channel == "C1" else None)
            for n, channel in enumerate(places)
        )  # fmt: skip
        await store.incidents.commit(Changes(notifications=seen))
        assert await store.brief_timings.list_last_alerts(OPERATOR, START, 5) == (
            ("C2", at[5]),
            ("C1", at[4]),
            ("C3", at[3]),
        )
        assert await store.brief_timings.list_last_alerts(Viewer(), at[5], 5) == (("C2", at[5]),)
        assert await store.brief_timings.list_last_alerts(Viewer(), START, 1) == (("C2", at[5]),)
        assert await store.brief_timings.read_timings("INC-1", "C1") == BriefTimings(3, at[0], at[4])
