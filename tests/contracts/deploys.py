"""What any store must do with deploys that the bot is told of."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.adapters.store import Store
from bot.domain.deploys import Deploy
from tests.fakes import START

ONE = Deploy("Checkout-API", START, "v142", "prod", "ci ✗", "started", "https://ci.example/142", "k1", "webhook")


class DeploysContract:
    """Mixed into the contract of each database."""

    async def test_a_deploy_is_kept_once_and_found_by_its_service(self, store: Store) -> None:
        log = store.deploys
        later = replace(ONE, at=START + timedelta(minutes=5), version="v143", key="k2")
        assert [await log.record(d) for d in (ONE, later, replace(ONE, state="success"))] == [True, True, False]
        assert await log.latest("checkout api", START + timedelta(hours=1), 5) == (later, replace(ONE, state="success"))
        assert await log.latest("checkout-api", START, 5) == (replace(ONE, state="success"),)
        assert await log.latest("checkout-api", START + timedelta(hours=1), 1) == (later,)
        assert await log.latest("ledger", START, 5) == ()

    async def test_old_deploys_are_forgotten(self, store: Store) -> None:
        await store.deploys.record(ONE)
        await store.deploys.record(replace(ONE, at=START + timedelta(days=2), key="k2"))
        before = START + timedelta(days=1)
        assert (await store.retention.forget(before=before, audit_before=before)).deploys == 1
        assert len(await store.deploys.latest("checkout-api", START + timedelta(days=3), 5)) == 1
