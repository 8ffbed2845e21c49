from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.records.importers.detect import read_file
from bot.records.importers.entries import ImportForm
from bot.workflows.resolutions.transfer import RefusedLine
from tests.records.importers.forms_support import SAMPLES, everything


def taken(
    name: str, text: str, form: ImportForm | None = None, columns: dict[str, str] | None = None
) -> list[Incident]:
    return [found for found in everything(name, text, form, columns) if isinstance(found, Incident)]


def sample(name: str) -> list[Incident | RefusedLine]:
    return everything(name, (SAMPLES / name).read_text(encoding="utf-8"))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def unverified(fix: str) -> tuple[Attempt, ...]:
    return (Attempt(fix, VerificationStatus.UNVERIFIED, how="import"),)


def test_pagerduty() -> None:
    record, still_open, merged = sample("pagerduty.json")
    assert isinstance(record, Incident)
    assert (record.incident_id, record.title) == ("PD-4711", "checkout-api: p95 latency above 2 s")
    assert (record.service, record.severity) == ("checkout-api", "P2")
    assert (record.started_at, record.resolved_at) == (at("2026-09-14T07:12:42"), at("2026-09-14T07:55:23"))
    assert record.symptoms == ("p95 was 4.1 s; pool exhausted",)
    assert record.root_cause == "connection pool of checkout-db was too small"
    fix = "raise pool size to 80; restart checkout-api. password=[masked:secret]"
    assert record.attempts == unverified(fix)
    assert record.source.url == "https://acme.pagerduty.com/incidents/PAB12CD"
    assert isinstance(still_open, RefusedLine)
    assert (still_open.line, still_open.field) == (2, "status")
    assert "is triggered" in still_open.reason
    assert isinstance(merged, RefusedLine)
    assert "merged" in merged.reason


def test_opsgenie_alerts_and_incidents() -> None:
    alert, still_open, incident = sample("opsgenie.json")
    assert isinstance(alert, Incident)
    assert (alert.incident_id, alert.title) == ("OPS-1791", "Disk of orders-db is 95 % full")
    assert (alert.service, alert.environment, alert.region, alert.severity) == ("orders-db", "prod", "eu-west-1", "P1")
    assert (alert.started_at, alert.resolved_at) == (at("2026-04-21T18:00:00"), at("2026-04-21T19:00:00"))
    assert alert.root_cause == "WAL archive was stuck"
    assert alert.attempts == unverified("move WAL off the disk")
    assert isinstance(still_open, RefusedLine)
    assert isinstance(incident, Incident)
    assert (incident.incident_id, incident.service) == ("OPS-88", "payments-api")
    assert (incident.started_at, incident.resolved_at) == (at("2026-05-02T09:50:00"), at("2026-05-02T11:05:00"))
    assert incident.source.url == "https://acme.app.opsgenie.com/incident/detail/47aa0f2b"


def test_jira_with_documents_and_with_markup() -> None:
    cloud, server, still_open = sample("jira.json")
    assert isinstance(cloud, Incident)
    assert (cloud.incident_id, cloud.service, cloud.severity) == ("REL-62", "search", "High")
    assert cloud.started_at == at("2026-03-02T10:04:05")
    assert cloud.root_cause == "Index rebuild took all memory"
    assert cloud.symptoms == ("503 on all shards",)
    assert cloud.attempts == unverified("stop the rebuild\nrestart shard 3")
    assert cloud.source.url == "https://acme.atlassian.net/browse/REL-62"
    assert isinstance(server, Incident)
    # A project that is called INC must not give its issues the ids of our own incidents.
    assert (server.incident_id, server.root_cause) == ("JIRA-INC-7", "Token cache was off")
    assert server.attempts == unverified("turn the cache on\nwatch p95")
    assert isinstance(still_open, RefusedLine)
    assert "In Progress" in still_open.reason


def test_incident_io() -> None:
    record, drill, live = sample("incident_io.json")
    assert isinstance(record, Incident)
    assert (record.incident_id, record.title) == ("IIO-INC-123", "Webhooks delayed by 30 minutes")
    assert (record.service, record.severity) == ("webhooks", "Major")
    assert (record.started_at, record.resolved_at) == (at("2026-08-17T13:00:00"), at("2026-08-17T14:10:00"))
    assert record.root_cause == "One consumer was stuck on a poison message."
    assert record.symptoms == ("Queue grew.",)
    assert record.attempts == unverified("move the message to the dead letters; restart the consumer")
    assert [r.field for r in (drill, live) if isinstance(r, RefusedLine)] == ["mode", "incident_status"]


def test_a_post_mortem() -> None:
    (record,) = sample("2026-05-11-cache-stampede.md")
    assert isinstance(record, Incident)
    assert (record.incident_id, record.title) == (
        "PM-2026-05-11-cache-stampede",
        "Cache stampede on product pages",
    )
    assert (record.service, record.severity, record.started_at) == ("product-pages", "SEV2", at("2026-05-11T09:10:00"))
    assert record.symptoms == ("Every page missed the cache at once.",)
    assert record.customer_impact == "9 % of page views failed."
    assert record.root_cause is not None
    assert record.root_cause.startswith("All keys expired in the same second.")
    assert "## Not a heading: SET key value EX 3600" in record.root_cause
    assert [(a.fix, a.status.value) for a in record.attempts] == [
        ("Restarting the cache nodes", "FAILED"),
        ("Warm the cache from the nightly dump\nAdd jitter to `EX`\nFollow-up:\nDeployed at 10:00.", "UNVERIFIED"),
    ]
    assert [check.check for check in record.failed_checks] == ["The database"]
    assert record.lesson == "The alert.\nNo load test."
    assert set(record.evidence) == {"Timeline", "Action items"}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("# Readme\n\nHow to write post-mortems.\n", ""),
        ("# Outage\n\nDate: some day\n\n## Root cause\n\nDNS\n", "started_at"),
    ],
)
def test_a_text_that_is_no_post_mortem_is_refused(text: str, field: str) -> None:
    (refused,) = everything("x.md", text)
    assert isinstance(refused, RefusedLine)
    assert refused.field == field


def test_other_ways_to_write_a_post_mortem() -> None:
    front = "---\nid: 77\nservice: auth\ndate: 2026-01-05\nowner: ada\n---\nRCA: Login down\n=====\n\nCause\n-----\n\nExpired key\n"
    (record,) = taken("folder/login.md", front)
    assert (record.incident_id, record.title, record.service) == ("PM-77", "Login down", "auth")
    assert (record.root_cause, record.started_at) == ("Expired key", at("2026-01-05T00:00:00"))
    (named,) = taken("q1/2026-02-03_mail.md", "**Root cause:**\nfull disk\n\n**Resolution**\nTBD\n")
    assert (named.incident_id, named.title) == ("PM-q1-2026-02-03_mail", "mail")
    assert (named.started_at, named.root_cause, named.attempts) == (at("2026-02-03T00:00:00"), "full disk", ())


def test_facts_at_the_head_are_no_symptoms() -> None:
    text = "# Cache gone\n\n**Service:** checkout-api\n**Severity:** SEV2\n\nCheckouts hung.\n\n## Fix\n- Warm it\n"
    (record,) = taken("cache.md", text)
    assert (record.service, record.severity, record.symptoms) == ("checkout-api", "SEV2", ("Checkouts hung.",))


def test_csv_of_the_tools() -> None:
    table = read_file("jira.csv", (SAMPLES / "jira.csv").read_text(encoding="utf-8")).table
    assert table is not None
    assert "Resolution" in table.unread
    (issue,) = sample("jira.csv")
    assert isinstance(issue, Incident)
    # OPS-9 could be an alert of Opsgenie.
    assert (issue.incident_id, issue.title, issue.service) == ("JIRA-OPS-9", "Mail queue stuck", "mail")
    assert (issue.started_at, issue.resolved_at) == (at("2026-11-12T08:15:00"), at("2026-11-12T09:00:00"))
    assert (issue.root_cause, issue.attempts) == ("A full spool disk", unverified("flush the queue"))
    (incident,) = sample("pagerduty.csv")
    assert isinstance(incident, Incident)
    assert (incident.incident_id, incident.title, incident.service) == ("PD-55", "Latency of search", "search")
    assert incident.resolved_at == at("2026-02-01T10:30:00")


HEADS = "Ticket;What;App;Opened;Fix;Worked;Ruled out;Minutes to resolve\n"


def test_csv_with_a_mapping_says_what_columns_are() -> None:
    rows = HEADS + (
        "7;Queue full;mail;2026-01-02 10:00;flush it;yes;disk, network;30\n"
        "8;Queue full;mail;01/02/2026;flush it;yes;;\n"
        "9;Queue full;mail;2026-01-02 10:00;flush it;maybe;;\n"
        "10;;mail;2026-01-02 10:00;flush it;no;;\n"
        "11;Queue full;mail\n"
        "12;Queue full;mail;;flush it;;;\n"
    )
    reading = read_file("x.csv", rows)
    assert reading.table is not None
    assert reading.table.asks
    assert reading.table.unread == ("What",)
    first, two_ways, maybe, untitled, cut_off, unsaid = everything("x.csv", rows, None, {"what": "title"})
    assert isinstance(first, Incident)
    assert (first.incident_id, first.title, first.service) == ("7", "Queue full", "mail")
    assert first.attempts == (Attempt("flush it", VerificationStatus.VERIFIED, how="import"),)
    assert first.resolved_at == at("2026-01-02T10:30:00")
    assert first.failed_checks[0].check == "disk, network"
    assert isinstance(unsaid, Incident)
    assert unsaid.attempts == unverified("flush it")
    told = [(r.line, r.field) for r in (two_ways, maybe, untitled, cut_off) if isinstance(r, RefusedLine)]
    assert told == [(3, "started_at"), (4, "outcome"), (5, "title"), (6, "")]
    assert isinstance(two_ways, RefusedLine)
    assert "two ways" in two_ways.reason
    assert "column “Opened”" in two_ways.reason


def test_a_row_without_an_id_has_the_same_one_each_time() -> None:
    text = "title,service,date,fix\nQueue full,mail,2026-01-02,{}\n"
    (one,), (other,) = taken("a.csv", text.format("a")), taken("b.csv", text.format("b"))
    assert one.incident_id == other.incident_id
    assert one.attempts != other.attempts


def test_cells_over_several_lines_keep_their_line_numbers() -> None:
    text = 'title,root cause\n"a","x\ny"\nb,z,too many\n'
    record, refused = everything("x.csv", text)
    assert isinstance(record, Incident)
    assert isinstance(refused, RefusedLine)
    assert (record.root_cause, refused.line) == ("x\ny", 4)


def test_the_form_is_told_by_the_text_and_format_overrides_it() -> None:
    one_line = '{"incident_number": 5, "title": "x", "status": "resolved"}'
    assert taken("-", one_line)[0].incident_id == "PD-5"
    assert taken("-", f"[{one_line}]")[0].incident_id == "PD-5"
    assert taken("-", f"{one_line}\n{one_line.replace('5', '6')}\n")[1].incident_id == "PD-6"
    assert taken("-", '{"incident_id": "A", "title": "t", "incident_number": 5}')[0].incident_id == "A"
    (refused,) = everything("-", one_line, ImportForm.JSONL)
    assert isinstance(refused, RefusedLine)
    assert refused.field == "incident_id"
    assert taken("x.txt", "title,id\nx,7\n", ImportForm.PAGERDUTY)[0].incident_id == "PD-7"
    (unknown,) = everything("x.txt", "just a note")
    assert isinstance(unknown, RefusedLine)
    assert "no form that import knows" in unknown.reason
    assert everything("-", "") == []


def test_facts_at_the_head_of_a_post_mortem() -> None:
    text = "# Down\n\n- Date: 2026-01-05 10:00\n- Duration (min): 45\n- Fault lies with: vendor\n- Impact: all users\n\n## Root cause\n\nx\n"
    (record,) = taken("down.md", text)
    assert (record.resolved_at, record.boundary.value, record.customer_impact) == (
        at("2026-01-05T10:45:00"),
        "vendor",
        "all users",
    )
    (refused,) = everything("down.md", text.replace("vendor", "the moon"))
    assert isinstance(refused, RefusedLine)
    assert refused.field == "boundary"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ("1764489600,,", at("2025-11-30T08:00:00")),
        ("1764489600000,,", at("2025-11-30T08:00:00")),
        ('"Nov 30, 2025 08:00",,', at("2025-11-30T08:00:00")),
        ("30.11.2025,,", at("2025-11-30T00:00:00")),
        ("2025-11-30 08:00 UTC,,", at("2025-11-30T08:00:00")),
        ("2025-11-30T08:00:00Z,many,", "minutes"),
        ("2025-11-30T08:00:00Z,,the moon", "boundary"),
        ("soon,,", "started_at"),
    ],
)
def test_cells_as_people_write_them(cells: str, expected: object) -> None:
    (found,) = everything("x.csv", f"title,started,duration minutes,boundary\nx,{cells}\n")
    assert (found.field if isinstance(found, RefusedLine) else found.started_at) == expected


def test_what_is_too_long_or_too_deep_is_refused() -> None:
    large, deep = {"incident_id": "A", "title": "x" * 300_000}, '{"title": ' + "[" * 900 + "1" + "]" * 900 + "}"
    for row in (json.dumps(large), deep):
        (refused,) = everything("-", row)
        assert isinstance(refused, RefusedLine)
    (long,) = everything("-", json.dumps([{"incident_number": 1, "title": "x" * 1_100_000}]))
    assert isinstance(long, RefusedLine)
    assert "longer than 1024 kB" in long.reason


def test_how_a_ticket_ended_is_no_fix_and_an_issue_with_an_end_is_over() -> None:
    done, fixed = taken("x.csv", "id,title,resolution\n1,a,Done\n2,b,Restarted it\n")
    assert (done.attempts, fixed.attempts) == ((), unverified("Restarted it"))
    open_status = {"name": "Reopened", "statusCategory": {"key": "indeterminate"}}
    fields = {"summary": "x", "status": open_status, "resolutiondate": "2026-01-02T03:04:05.000+0000"}
    (over,) = everything("x.json", json.dumps({"issues": [{"key": "OPS1-7", "fields": fields}]}))
    assert isinstance(over, Incident)
    (still,) = everything(
        "x.json", json.dumps({"issues": [{"key": "A-1", "fields": fields | {"resolutiondate": None}}]})
    )
    assert isinstance(still, RefusedLine)


def test_a_tools_prefix_is_put_on_once() -> None:
    rows = "Incident Number,Description,Service Name\nPD-7,x,s\n8,y,s\n"
    assert [record.incident_id for record in taken("x.csv", rows)] == ["PD-7", "PD-8"]
