"""Group log lines that are alike: a quarter of an hour in five templates.

Secrets are masked before anything is collapsed or cut, because half a secret is not recognized. Linear in its
input, whatever the lines contain; of a line only a masked sample is kept.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.evidence.items import Evidence, EvidenceKind, Observed
from bot.domain.text.redaction import mask

WINDOW = timedelta(minutes=15)
WINDOW_SHOWN = "15 min"
TOP = 5
# More than these are not looked at: masking takes its time, and an alert waits.
MOST_LINES, MOST_GROUPS = 5_000, 250
# A longer line is a dump. It is cut after masking, and before masking only at a length that holds any secret whole.
MOST_RAW, MOST_TEMPLATE, MOST_SAMPLE = 16_000, 240, 300
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_SPACES = re.compile(r"\s+")
_VARIES = re.compile(
    r"(?P<keep>\[masked:[a-z_]{1,30}\]|\b(?:http|status|code)[ =:/\"']{1,3}[1-5]\d\d\b)"
    r"|(?P<quoted>\"[^\"]{0,200}\"(?!\s?:)|(?<![\w\"])'[^']{1,200}'(?!\w)|`[^`]{1,200}`)"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b0x[0-9a-f]{1,64}\b|\b(?=[a-f]{0,40}\d)[0-9a-f]{6,512}\b"
    r"|\d+(?:[.,:]\d+)*",
    re.IGNORECASE,
)
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as a source stores it, with its time (UTC)."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class LogTemplate:
    """Lines that differ only in numbers, ids and quoted values."""

    text: str
    count: int
    first: datetime
    last: datetime
    sample: str  # the latest line, masked


def clean_line(text: str) -> str:
    """Return one line without secrets, colors and invisible characters."""
    plain = mask(_ANSI.sub("", text[:MOST_RAW]))[0]
    if not plain.isascii() or not plain.isprintable():
        plain = "".join(c if unicodedata.category(c) not in _DROPPED else " " for c in plain)
    return _SPACES.sub(" ", plain).strip()


def extract_template(line: str) -> str:
    """Return what similar lines share: without numbers, ids and quoted values; HTTP codes stay."""
    return _VARIES.sub(_collapse, line)


def _collapse(match: re.Match[str]) -> str:
    if match["keep"]:
        return match[0]
    return f"{match[0][0]}…{match[0][0]}" if match["quoted"] else "#"


def group_lines(lines: Iterable[LogLine], limit: int = TOP) -> tuple[tuple[LogTemplate, ...], bool]:
    """Return the most frequent templates (of equals the latest first), and whether some lines were left out.

    Lines without text do not count. Masking is the expensive part, so lines are grouped unmasked and one of each
    group is masked; the unmasked groups never leave this function.
    """
    alike: dict[str, LogTemplate] = {}
    for line in lines:
        key = extract_template(line.text[:MOST_RAW])
        old = alike.get(key)
        alike[key] = LogTemplate("", 1, line.at, line.at, line.text) if old is None else _add_line(old, line.at, line)
    groups = _choose_most_frequent(alike.values(), MOST_GROUPS)
    found: dict[str, LogTemplate] = {}
    for group in groups:
        plain = clean_line(group.sample)
        template = extract_template(plain)[:MOST_TEMPLATE]
        one = LogTemplate(template, group.count, group.first, group.last, plain[:MOST_SAMPLE])
        found[template] = _merge(found[template], one) if template in found else one
    found.pop("", None)
    return _choose_most_frequent(found.values(), limit), len(alike) > MOST_GROUPS


def _add_line(old: LogTemplate, at: datetime, line: LogLine) -> LogTemplate:
    sample = line.text if at >= old.last else old.sample
    return LogTemplate("", old.count + 1, min(old.first, at), max(old.last, at), sample)


def _merge(one: LogTemplate, other: LogTemplate) -> LogTemplate:
    sample = other.sample if other.last > one.last else one.sample
    first, last = min(one.first, other.first), max(one.last, other.last)
    return LogTemplate(one.text, one.count + other.count, first, last, sample)


def _choose_most_frequent(templates: Iterable[LogTemplate], limit: int) -> tuple[LogTemplate, ...]:
    return tuple(sorted(templates, key=lambda t: (-t.count, -t.last.timestamp(), t.text))[:limit])


def name_signal(template: str) -> str:
    """Return a template's stable name, by which a later look finds the same lines again."""
    return f"log_{hashlib.sha256(template.encode()).hexdigest()[:12]}"


def observe_logs(
    lines: Iterable[LogLine],
    service: str,
    source: str,
    at: datetime,
    *,
    url: str | None = None,
    truncated: bool = False,
) -> tuple[Evidence, ...]:
    """Return the top templates of the window that ends at `at`; no lines at all is an observation, too."""
    recent = sorted((one for one in lines if at - WINDOW <= one.at <= at), key=lambda one: one.at)
    what = f"error lines of {service}"
    templates, too_many = group_lines(recent[-MOST_LINES:])
    cut = truncated or too_many or len(recent) > MOST_LINES
    if not templates:
        return (
            Observed(
                EvidenceKind.LOGS,
                "log_none",
                what,
                source,
                at,
                window=WINDOW_SHOWN,
                text="none",
                count=0,
                url=url,
                truncated=cut,
            ),
        )
    return tuple(
        Observed(
            EvidenceKind.LOGS,
            name_signal(one.text),
            what,
            source,
            at,
            window=WINDOW_SHOWN,
            text=one.sample,
            count=one.count,
            first=one.first,
            last=one.last,
            url=url,
            truncated=cut,
        )
        for one in templates
    )
