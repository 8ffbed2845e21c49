"""The identity of what is alerting, as a stable readable string. Must not take in values, counts, times or severity."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_NUMBER = re.compile(
    r"(?<![\w.-])[#×x]?[-+]?\d[\d.,:]*\s?(?:%|％|ms|secs?|s|m|min|minutes?|h|hours?|d|days?|x|[KMGT]i?B|th|st|nd|rd)?(?![\w-])",
    re.IGNORECASE,
)
_STATE_WORDS = frozenset(
    "failed failing fails failure failures fail succeeded success successful successfully ok okay dropped recovered recovery recovering "
    "resolved firing fired triggered warn warning critical alert alerts problem down up is are was has have been now back to normal the a an "
    "again still started ended degraded restored cleared closed opened acknowledged escalated error increased high low exceeded above below "
    "healthy unhealthy completed passed unavailable available fixed "
    "ist sind wieder nicht war wurde behoben gelöst ausgefallen fehlgeschlagen erreichbar störung entwarnung "
    "está esta caído caída caido caida recuperado recuperada resuelto resuelta resolvido resolvida normalizado normalizada falló falla fallo "
    "indisponible rétabli rétablie résolu résolue est en panne alerte alarma alarme disponible "
    "告警 恢复 復旧 解決 発生".split()
)


def normal(text: str) -> str:
    """A name without numbers, state words, case and punctuation: what stays the same when the alert fires or clears."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W_]+(?:[-_./][^\W_]+)*", _NUMBER.sub(" ", folded))
    kept = [w for w in words if w not in _STATE_WORDS]
    return " ".join(kept or words)


def exact(text: str) -> str:
    """An identity taken as it is, but for case and spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def fingerprint(tool: str, parts: Iterable[str]) -> str:
    """`tool:readable-words:hash` over the parts, in their order; empty parts keep their place."""
    held = [exact(part) for part in parts]
    digest = hashlib.sha256("\x1f".join([tool, *held]).encode()).hexdigest()[:12]
    readable = "-".join(re.findall(r"[^\W_]+", " ".join(held)))[:60].strip("-")
    return f"{tool}:{readable or 'unnamed'}:{digest}"
