"""The post-mortem holds everything that the record says, in order, and nothing in it can act as Markdown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.domain.incidents.lifecycle import FiringPeriod, IncidentState, Lifecycle
from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, Incident, Source, VerificationStatus
from bot.domain.reports.postmortem import QuotedMessage, write_postmortem

AT = datetime(2026, 11, 29, 3, 12, tzinfo=UTC)
LIFE = Lifecycle(
    "INC-7", "fp", "public", IncidentState.RESOLVED, AT, AT,
    spells=(FiringPeriod(AT, AT + timedelta(minutes=40)), FiringPeriod(AT + timedelta(minutes=50))),
    acknowledged_by="<@U1>", acknowledged_at=AT + timedelta(minutes=4),
)  # fmt: skip
RECORD = Incident(
    "INC-7", "Payments *time out*", service="payments-api", vendor="razorpay", region="ap-south-1", environment="prod",
    severity="critical", symptoms=("504 from the gateway",), customer_impact="cards fail", started_at=AT,
    resolved_at=AT + timedelta(hours=1), boundary=Boundary.VENDOR, root_cause="their edge\ntimed out",
    attempts=(
        Attempt("Restart <b>payments-api</b>", VerificationStatus.FAILED, note="no change", by="U2",
                at=AT + timedelta(minutes=10)),
        Attempt("Fail over; Watch it", VerificationStatus.VERIFIED, at=AT + timedelta(minutes=30)),
    ),
    failed_checks=(FailedCheck("DB pool", 25), FailedCheck("DNS")), lesson="look at the vendor first",
    source=Source("slack", "https://slack.example/p1"),
)  # fmt: skip


def test_everything_that_is_known_is_in_it() -> None:
    assert (
        write_postmortem(RECORD, LIFE)
        == r"""# INC-7: Payments \*time out\*

- Service: payments-api
- Vendor: razorpay
- Where: prod/ap-south-1
- Severity: critical
- Fault lies with: vendor
- Impact on customers: cards fail
- Thread: https://slack.example/p1

## Timeline

- 2026-11-29 03:12 UTC: it began
- 2026-11-29 03:12 UTC: the alert fired
- 2026-11-29 03:16 UTC: acknowledged by \<@U1\>
- 2026-11-29 03:22 UTC: recorded: “Restart \<b\>payments-api\</b\>” did not work
- 2026-11-29 03:42 UTC: recorded: “Fail over and 1 more step” worked: a person saw the recovery
- 2026-11-29 03:52 UTC: the alert cleared
- 2026-11-29 04:02 UTC: the alert fired
- 2026-11-29 04:12 UTC: resolved

## What was seen

- 504 from the gateway

## Root cause

their edge timed out

## What was tried

1. Did not work, by U2:
   - Restart \<b\>payments-api\</b\>
   - Note: no change
2. Worked: a person saw the recovery:
   - Fail over
   - Watch it

## Checks that turned out not to be the cause

- DB pool (25 min)
- DNS

## Lesson

look at the vendor first
"""
    )


def test_what_nobody_recorded_is_named_as_missing() -> None:
    bare = write_postmortem(Incident("INC-8", "Disk"))
    assert bare.count("Not recorded.") == 4
    assert "Nothing was recorded." in bare
    assert "None was recorded." in bare
    assert "- Fault lies with: unknown" in bare


def test_who_acknowledged_may_be_unknown_and_an_attempt_may_be_one_word() -> None:
    told = write_postmortem(
        replace(RECORD, attempts=(Attempt("reboot", at=AT),)), replace(LIFE, acknowledged_by=None, spells=())
    )
    assert "acknowledged by someone" in told
    assert "“reboot” outcome not recorded" in told


def test_what_people_said_stands_in_the_timeline_and_what_was_not_read_is_named() -> None:
    said = (QuotedMessage(AT + timedelta(minutes=2), "Bob", "is it *us*?\n# no"),)
    text = write_postmortem(RECORD, LIFE, said)
    assert "- 2026-11-29 03:14 UTC: Bob: “is it \\*us\\*? \\# no”\n- 2026-11-29 03:16" in text
    assert "could not be read" not in text
    assert "What people said in the thread could not be read." in write_postmortem(RECORD, LIFE, unread=True)


def test_an_import_is_not_a_person_who_saw_it() -> None:
    told = write_postmortem(
        Incident("PAY-7", "504s", attempts=(Attempt("Fail over", VerificationStatus.VERIFIED, how="import"),))
    )
    assert "1. Worked: so the import says:" in told
    assert "a person" not in told
