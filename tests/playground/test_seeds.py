"""The seeds load, and every sample alert is one that Slack would take."""

from __future__ import annotations

from pathlib import Path

from bot.playground import LocalSlack, validate_message

SEEDS = Path(__file__).parents[2] / "seeds"


async def test_every_sample_alert_is_taken_and_delivered() -> None:
    async with await LocalSlack.start(seeds_dir=SEEDS, ack_timeout_s=0.01, retry_delays_s=()) as slack:
        assert len(slack.samples) >= 10
        for name, payload in slack.samples.items():
            assert validate_message(payload) == [], name
            posted = await slack.post_sample("#payments-alerts", name)
            assert posted["subtype"] == "bot_message"
            assert posted["username"] == payload["username"]
        assert len(slack.timeline("#payments-alerts")) == len(slack.samples)


async def test_the_payment_alert_states_vendor_service_and_region_as_labels() -> None:
    async with await LocalSlack.start(seeds_dir=SEEDS) as slack:
        attachment = slack.samples["payment-gateway-504"]["attachments"][0]
        fields = {f["title"]: f["value"] for f in attachment["fields"]}
        assert fields["Vendor"] == "razorpay"
        assert fields["Service"] == "payments-api"
        assert fields["Region"] == "ap-south-1"


async def test_the_workspace_has_a_private_and_a_shared_channel_and_a_guest() -> None:
    async with await LocalSlack.start(seeds_dir=SEEDS) as slack:
        channels = slack.core.workspace.channels.values()
        assert [c.name for c in channels if c.is_private] == ["sec-incidents"]
        assert [c.name for c in channels if c.is_ext_shared] == ["razorpay-partners"]
        assert [u.name for u in slack.core.workspace.users.values() if u.is_guest] == ["kim-guest"]
