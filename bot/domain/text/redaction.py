"""Mask secrets and personal data in text, but not hashes, ids, pod names, times or plain numbers; linear in its input.

Mask before cutting a text: half a secret is not recognized.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from bot.domain.text.format import format_count
from bot.domain.text.secret_patterns import ENDS, IN_LINKS, LABEL, RULES, SECRET_PARAM, is_no_value

# Rules for what belongs to a person rather than to a system.
PERSONAL = frozenset({"email", "card", "iban", "phone"})
_MARK = re.compile(r"\[masked:([a-z_]{1,30})\]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0001-\U000e007f]"
)


def mask(text: str) -> tuple[str, Mapping[str, int]]:
    """Return the text with secrets replaced by `[masked:<rule>]`, and how often each rule matched. Idempotent.

    If a secret's name is spelled with lookalike or invisible characters, the text comes back in plain ones.
    """
    masked, counts = _mask_once(text)
    if text.isascii() or (plain := _INVISIBLE.sub("", unicodedata.normalize("NFKC", masked))) == masked:
        return masked, dict(counts)
    again, more = _mask_once(plain)
    return (again, dict(counts + more)) if more else (masked, dict(counts))


def _mask_once(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    shown = text.casefold()
    for rule in RULES:
        if rule.beside not in shown or (rule.needs and not any(need in shown for need in rule.needs)):
            continue
        replaced = rule.pattern.sub(rule.by, text)
        if replaced != text:
            counts[rule.name] += max(1, replaced.count(f"[masked:{rule.name}]") - text.count(f"[masked:{rule.name}]"))
            text = replaced
    return text, counts


def count_marks(text: str) -> Mapping[str, int]:
    """Return how often each rule matched in a text that is already masked."""
    return dict(Counter(_MARK.findall(text)))


def format_masked_note(counts: Mapping[str, int], still_in: str | None = "the thread") -> str | None:
    """Return the one line that the author of a masked text reads, or None if nothing was masked.

    `still_in` names where the text remains unmasked. Personal data is counted separately, because it cannot be
    rotated.
    """
    personal = sum(number for rule, number in counts.items() if rule in PERSONAL)
    secrets = sum(counts.values()) - personal
    parts = []
    if secrets:
        still = f"; {'it is' if secrets == 1 else 'they are'} still in {still_in}" if still_in else ""
        parts.append(f"{format_count(secrets, 'secret')} masked{still}: rotate {'it' if secrets == 1 else 'them'}")
    if personal:
        parts.append(f"{format_count(personal, 'personal detail')} masked")
    return f"{'. '.join(parts)}." if parts else None


def is_secret_name(label: str) -> bool:
    """Return whether a label (a field's title, a key) is nothing but a secret's name: "DB password", "*api_key:*"."""
    return LABEL.match(_INVISIBLE.sub("", unicodedata.normalize("NFKC", label[:200]))) is not None


def has_secret_name_last(text: str) -> bool:
    """Return whether a text ends in a secret's name and a colon, so that the secret follows."""
    return ENDS.search(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text[-200:]))) is not None


def mask_value(label: str, value: str) -> str:
    """Mask a value, given its label: after a secret's name all of it goes."""
    if is_secret_name(label) and len(value.strip()) >= 3 and not is_no_value(value.strip()):
        return value if value.strip().startswith("[masked:") else "[masked:secret]"
    return mask(value)[0]


def mask_url(url: str) -> str:
    """Return a link without user information and secret parameters; everything else stays, so that it works."""
    head, separator, rest = url.partition("://")
    authority, slash, tail = rest.partition("/")
    if separator and "@" in authority:
        authority = "[masked:url_password]@" + authority.rpartition("@")[2]
    whole = SECRET_PARAM.sub(r"\1[masked:secret]", f"{head}{separator}{authority}{slash}{tail}")
    for rule in IN_LINKS:
        whole = rule.pattern.sub(rule.by, whole)
    return whole
