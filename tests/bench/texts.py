"""Templated incidents and questions for measuring speed. Must not be used to judge quality: they are made of few words.

Names and words are spread as in real stores: a few services have most incidents, every service has its own rare words.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from bot.domain.incidents.record import Announcement, Attempt, Incident, VerificationStatus

START = datetime(2020, 1, 1, tzinfo=UTC)
SYLLABLES = [
    "ba",
    "co",
    "de",
    "fi",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "qui",
    "ro",
    "su",
    "ta",
    "ve",
    "wa",
    "xe",
    "yo",
    "zu",
    "bri",
    "cla",
    "dro",
    "fle",
    "gra",
]
AREAS = [
    "payments",
    "checkout",
    "search",
    "billing",
    "auth",
    "catalog",
    "ledger",
    "orders",
    "shipping",
    "media",
    "inventory",
    "gateway",
]
KINDS = ["api", "worker", "cache", "proxy", "db", "queue", "scheduler", "ingest", "edge", "sync"]
VENDORS = [None, None, None, "aws", "gcp", "stripe", "razorpay", "twilio", "cloudflare", "datadog"]
REGIONS = ["ap-south-1", "eu-west-1", "us-east-1", "us-west-2", "eu-central-1"]
SIGNS = [
    "p99 latency above {n} ms on {path}",
    "error rate {n} percent for {path}",
    "connection pool exhausted at {n} connections to {word}",
    "consumer lag {n} on topic {word}",
    "disk usage at {n} percent on volume {word}",
    "certificate of {word} expires in {n} hours",
    "HTTP 504 from upstream {word} after {n} s",
    "HTTP 429 rate limit by {word}, {n} requests refused",
    "pod {word} restarted {n} times, OOMKilled",
    "replication lag of {n} seconds on replica {word}",
    "DNS lookups of {word} time out",
    "{word} election without leader for {n} s",
    "deadlock found when writing table {word}",
    "queue depth {n}, workers of {word} idle",
    "TLS handshake with {word} fails",
    "garbage collection pauses of {n} ms in {word}",
]
CAUSES = [
    "{word} was deployed with a wrong timeout",
    "the vendor's {word} cluster lost a zone",
    "a missing index on {word} made queries slow",
    "traffic from {word} doubled after a campaign",
    "a certificate of {word} was not renewed",
    "the limit of {word} was too low for the batch job",
]
FIXES = ["failed over to the secondary {word}", "rolled back {word}", "raised the limit of {word}", "restarted {word}"]


def word_of(number: int) -> str:
    """A made-up word for a number; different numbers give different words."""
    made = ""
    while True:
        number, part = divmod(number, len(SYLLABLES))
        made += SYLLABLES[part]
        if not number:
            return made


def _word(chance: random.Random, vocabulary: int) -> str:
    return word_of(int(vocabulary * chance.random() ** 3) + 600)


def _filled(chance: random.Random, template: str, vocabulary: int) -> str:
    path = f"/v{chance.randint(1, 3)}/{_word(chance, vocabulary)}/{_word(chance, vocabulary)}"
    return template.format(n=chance.randint(2, 9000), word=_word(chance, vocabulary), path=path)


def incidents(count: int, seed: int = 7) -> Iterator[Incident]:
    """`count` incidents, always the same ones."""
    chance = random.Random(seed)
    vocabulary = 2_000 + count // 10
    for number in range(count):
        area, kind = chance.choice(AREAS), chance.choice(KINDS)
        service = f"{area}-{kind}-{int(40 * chance.random() ** 3)}"
        signs = [_filled(chance, s, vocabulary) for s in chance.sample(SIGNS, 3)]
        name = f"{area.title()}{kind.title()}{chance.choice(['Down', 'Slow', 'Errors', 'Saturated', 'Lagging'])}"
        fix = Attempt(
            _filled(chance, chance.choice(FIXES), vocabulary), VerificationStatus.VERIFIED, by="U1", how="import"
        )
        yield Incident(
            f"INC-{number}",
            f"{name}: {signs[0]}",
            service=service,
            vendor=chance.choice(VENDORS),
            region=chance.choice(REGIONS),
            environment="production",
            symptoms=tuple(signs),
            started_at=START + timedelta(minutes=number),
            resolved_at=START + timedelta(minutes=number + 40),
            root_cause=_filled(chance, chance.choice(CAUSES), vocabulary),
            attempts=(fix,),
            alerts=(Announcement(f"fp{number}", "alertmanager", name, {"service": service}),),
        )


def questions(count: int, of: int, seed: int = 11) -> list[str]:
    """Questions like alerts on a store of `of` incidents: partly about what is there, partly about nothing."""
    chance = random.Random(seed)
    vocabulary = 2_000 + of // 10
    found = []
    for _ in range(count):
        area, kind = chance.choice(AREAS), chance.choice(KINDS)
        signs = [_filled(chance, s, vocabulary) for s in chance.sample(SIGNS, 2)]
        found.append(
            f"internal {area}-{kind}-{int(40 * chance.random() ** 3)} {area.title()}{kind.title()}Down {' '.join(signs)}"
        )
    return found
