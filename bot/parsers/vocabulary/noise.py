"""A table of patterns for posts that are no alerts. Colors do not count: noise is red as well."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.MULTILINE

# (kind, pattern over the first 3,000 characters, reason)
NOISE: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (kind, re.compile(pattern, _FLAGS), reason)
    for kind, pattern, reason in (
        ("housekeeping", r"^(?:.{0,40} )?(?:added|removed) an integration (?:to|from) this channel|^(?:.{0,60} )?has been added to this channel|\bhas (?:joined|left) the channel", "an integration or member came or went"),
        ("test_notification", r"\btest(?:[ -](?:notification|alert|message|incident|event|page))\b|\bTestAlert\b|^[^:\n]*\btesting\s*$|\bthis is a test\b|\btest de notification\b|\btestbenachrichtigung\b|\bprueba de notificaci|テスト通知|测试(?:消息|通知|告警)|\bsend test\b", "a test notification"),
        ("maintenance", r"\bdowntime(?:start|end|removed|cancelled)\b|\bscheduled maintenance\b|\bmaintenance (?:is planned|window|scheduled|started|ended|completed)\b|^\W*scheduled\s*[-–:]|\bwartungsfenster\b|\bflapping ?st(?:art|op)", "a planned maintenance"),
        ("digest", r"\b(?:daily|weekly|monthly|nightly|morning) (?:\w+ ){0,3}(?:digest|summary|report|recap|overview|roundup|stats)\b|\b(?:digest|summary) (?:for|of) (?:the )?(?:last|past|week|day|yesterday|today)|\balerts? (?:this|last) week\b|\bon-?call (?:report|summary|digest|handover|handoff|schedule|rotation)|\b(?:wöchentlicher|täglicher) bericht|\brésumé (?:quotidien|hebdomadaire)|\bresumen (?:diario|semanal)|日报|週報|日報|周报", "a digest of several things"),
        ("incident_announcement", r"\bnew incident declared\b|\bincident declared\b|\bnew incident:? INC-\d|\bincident channel (?:created|opened)|\bpostmortem (?:is )?(?:due|ready|published)|\b(?:incident )?lead\b.{0,40}\bassigned", "an incident declared by people or from an alert"),
        ("housekeeping", r"\b(?:muted|unmuted|silenced|silence (?:created|expired|expires|updated))\b.{0,80}|\bmonitor (?:created|deleted|edited|updated|was (?:created|deleted|edited))\b|\brule (?:was )?(?:created|updated|deleted|changed)\b", "a change of the monitoring itself"),
        ("housekeeping", r"\ba [`*]?(?:pod|deployment|service|configmap|job|replicaset|node|ingress|secret|daemonset)[`*]? .{0,80}has been [`*]?(?:created|deleted|updated)", "a change notice of the cluster"),
        ("agent_note", r"^\W*(?:likely |probable |possible )?root cause\W{0,3}:[\s\S]{0,1500}^\W*(?:suggested |proposed )?(?:fix|mitigation|next steps?|recommendation)\W{0,3}:|\b(?:AI|automated) (?:triage|analysis|investigation|summary)\b|^\W*(?:triage|investigation) (?:summary|notes?|result)\b", "a note about an alert"),
        ("self", r"\bwhat fixed it:|^this looks like the .{0,80}incident", "an answer about past incidents"),
        ("chatter", r"\breminder:|\bstand-?up\b|\bhands over to\b|\bhandover\b|\bhappy birthday\b|\bwelcome to\b|\bretro(?:spective)?\b.{0,40}\bat \d|\bnewsletter\b|\bthis week at\b", "a reminder or social post"),
        ("bot_noise", r"\bpull request (?:merged|opened|closed|review|approved)|\bmerge request\b.{0,60}\b(?:opened|merged|closed|approved)\b|\b(?:opened|merged|closed|approved)\b.{0,30}\bmerge request\b|\bpushed (?:\d+ )?(?:new )?commits?\b|\bopened (?:a )?(?:pull request|issue)\b|\bcommented on\b|\b(?:created|updated|transitioned|moved) (?:an? )?(?:issue|story|bug|task|ticket)\b|\bassigned (?:you )?(?:to )?[A-Z]+-\d+|\bnew (?:release|version) (?:available|published)|\bapplied successfully\b|\bplan (?:finished|ready)\b|\breleased? v?\d+\.\d+", "a notice of a work tool"),
        ("deploy", r"\bis now running new version\b|\b(?:deployed|deploying|rolled out|released|promoted|shipped) (?:\S+ )?(?:`?\S+`? )?(?:to|in|on)\b(?! (?:failed|error))|\bdeploy(?:ment)? (?:of .{1,60} )?(?:started|finished|succeeded|completed|complete|successful|in progress)\b|\bhas been (?:successfully )?(?:deployed|synced)\b|\bbereitgestellt auf\b|\bdéployé\b|\bdesplegad[oa]\b|デプロイ(?:完了|しました)|部署(?:完成|成功)", "a deploy"),
    )
)  # fmt: skip
# Alerts that fire as long as all is well, by the names that everybody gives them.
HEARTBEAT_NAMES = frozenset({"Watchdog", "DeadMansSwitch", "InfoInhibitor"})
HEARTBEAT = re.compile(
    r"^\W*(?:\[?firing\S*\W*)?watchdog\b(?!.*\b(?:timer|timeout|expired|lockup|bug|failed)\b)|\bdead ?man'?s? ?(?:switch|snitch)|\balwaysfiring\b"
    r"|\bheartbeat (?:ok|received|alive)\b|\b(?:still|i am) alive\b|\binfoinhibitor\b",
    _FLAGS,
)
_PROBLEM = re.compile(
    r"\b(?:fail(?:ed|ing|ure)?|aborted|degraded|error|rolled back|rollback|firing|triggered|critical|exceeded)\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"(?<!\d )\b(?:fail(?:ed|ing|ure)?|aborted|timed out|did not (?:run|finish|complete|arrive)|is (?:late|missing))\b",
    re.IGNORECASE,
)
_EXEMPT = {"deploy": _PROBLEM, "digest": _BROKEN}
_FIRST_LINE = frozenset({"digest", "housekeeping"})


def find_noise(text: str) -> tuple[str, str] | None:
    """Return (kind, reason) if a post's first lines are known noise; a failed deploy or report is none.

    Alerts may mention reports, tests and silences further down; only notes are known by their whole text.
    """
    first, _, rest = text.partition("\n")
    head = f"{first}\n{rest.partition(chr(10))[0]}"[:600]
    for kind, pattern, reason in NOISE:
        searched = text[:3000] if kind == "agent_note" else first[:400] if kind in _FIRST_LINE else head
        exempt = _EXEMPT.get(kind)
        if pattern.search(searched) and not (exempt and exempt.search(head)):
            return kind, reason
    return None
