"""Build the identity of what is alerting as a stable, readable string, without values, counts, times or severity."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from bot.domain.text.redaction import mask

_NUMBER = re.compile(
    r"(?<![\w.-])[#×x]?[-+]?\d[\d.,:]*\s?(?:%|％|ms|secs?|s|m|min|minutes?|h|hours?|d|days?|x|[KMGT]i?B|th|st|nd|rd)?(?![\w-])",
    re.IGNORECASE,
)
_LETTERS = r"(?:[^\W_]|[\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e])"  # `re` does not count the marks of Indic and Thai scripts as word characters
_WORDS = re.compile(rf"{_LETTERS}+(?:[-_./]{_LETTERS}+)*")
# what several words say together of the state, so that neither of them may be left over
_SAID = re.compile(
    r"\bde nouveau\b|\bfora do ar\b|\bfuera de servicio\b|\bde vuelta\b|\breturned to normal\b|\bis reporting (?:an? )?\w+|\bretour à la normale\b|\bvoltou ao normal\b"
    r"|\bvuelve a la normalidad\b|\bzurück im normalbereich\b|正常に戻りました|(?:閾値|しきい値)?を(?:超えました|超過しました|下回りました)|恢复正常|超过阈值|임계값 초과|정상으로 복구"
)
_ID = re.compile(r"^[a-z]{1,5}-\d{4,}$")
_STATE_WORDS_LISTED = (
    "failed failing fails failure failures fail succeeded success successful successfully ok okay dropped "
    "recovered recovery recovering resolved firing fired triggered warn warning critical alert alerts problem "
    "down up is are was has have been now back to normal the a an again still started ended degraded restored "
    "cleared closed opened acknowledged escalated error increased high low exceeded above below healthy "
    "unhealthy non raggiungibile недоступен недоступна доступен восстановлен восстановлена 중단 복구 operativo operativa operacional operational funcionando operativ verfügbar online offline "
    "completed passed unavailable available fixed ist sind wieder nicht war wurde behoben gelöst "
    "ausgefallen fehlgeschlagen erreichbar störung entwarnung está esta caído caída caido caida recuperado "
    "recuperada resuelto resuelta resolvido resolvida normalizado normalizada falló falla fallo indisponible "
    "rétabli rétablie résolu résolue est en panne alerte alarma alarme disponible 告警 恢复 復旧 解決 発生"
)
_STATE_WORDS = frozenset(_STATE_WORDS_LISTED.split())


def normalize_identity(text: str) -> str:
    """Return a name without numbers, state words, case and punctuation: equal when the alert fires and clears."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _WORDS.findall(_NUMBER.sub(" ", _SAID.sub(" ", folded)))
    kept = [w for w in words if w not in _STATE_WORDS and not _ID.match(w)]
    return " ".join(kept or words)


def fold_identity(text: str) -> str:
    """Return an identity as it is, but for case and spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def build_fingerprint(tool: str, parts: Iterable[str]) -> str:
    """Build `tool:readable-words:hash` from the parts in order; an empty part keeps its position."""
    held = [fold_identity(mask(part)[0]) for part in parts]
    digest = hashlib.sha256("\x1f".join([tool, *held]).encode()).hexdigest()[:12]
    readable = "-".join(re.findall(rf"{_LETTERS}+", " ".join(held)))[:60].strip("-")
    return f"{tool}:{readable or 'unnamed'}:{digest}"
