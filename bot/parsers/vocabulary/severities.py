"""Map words for severity, in several languages, to four levels. A word that is not listed says nothing."""

from __future__ import annotations

import re

from bot.domain.alerts.alert import Severity

_WORDS: dict[Severity, str] = {
    Severity.CRITICAL: "critical crit fatal emergency disaster emerg page blocker sev0 sev1 s0 s1 p0 p1 severe panic major-outage "
    "critique kritisch kritische crítico crítica critico critica crítica! krytyczny критический критично критическая kritik "
    "严重 緊急 紧急 致命 致命的 重大 危险 危急 深刻 危険 심각 치명 긴급 गंभीर अति-गंभीर 灾难",
    Severity.HIGH: "high error err major urgent sev2 s2 p2 alta alto haute haut hoch hohe grave elevada elevado высокий высокая hoog "
    "高 重要 高い 高危 높음 उच्च partial-outage",
    Severity.WARNING: "warning warn medium moderate average minor sev3 s3 p3 warnung avertissement advertencia aviso atenção attention "
    "média medio media mittel moyenne moyen avviso attenzione waarschuwing предупреждение внимание средний ostrzeżenie "
    "警告 注意 中 警戒 一般 次要 주의 경고 चेतावनी मध्यम degraded-performance",
    Severity.INFO: "info information informational notice low none debug trivial sev4 sev5 s4 s5 p4 p5 niedrig gering faible basse "
    "baja bajo baixa baixo bassa informativo hinweis información informação low-priority not-classified "
    "低 提示 信息 通知 情報 低い 낮음 정보 निम्न सूचना низкий инфо",
}
_BY_WORD = {word: level for level, words in _WORDS.items() for word in words.split()}
_RANKED = re.compile(r"^(?:sev(?:erity)?|priority|prio|p|s)[\s_-]?([0-5])\b")
_AZURE = {"0": Severity.CRITICAL, "1": Severity.HIGH, "2": Severity.WARNING, "3": Severity.INFO, "4": Severity.INFO}
_LEVELS = (Severity.CRITICAL, Severity.CRITICAL, Severity.HIGH, Severity.WARNING, Severity.INFO, Severity.INFO)


def read_severity(word: str) -> Severity | None:
    """Return the level that a word names ("P2", "SEV-1", "Critical", "严重"); None if it names none."""
    folded = word.casefold().strip(" .!:：*`'\"[]()【】")
    ranked = _RANKED.match(folded)
    if ranked:
        return _LEVELS[int(ranked[1])]
    head = re.split(r"[\s/(,（]", folded[:60], maxsplit=1)[0]
    return _BY_WORD.get(folded) or _BY_WORD.get(folded.replace(" ", "-")) or _BY_WORD.get(head)


def read_azure_severity(word: str) -> Severity | None:
    """Return the level of Azure Monitor's Sev0 to Sev4, one step milder than the usual scale."""
    ranked = _RANKED.match(word.casefold().strip())
    return _AZURE.get(ranked[1]) if ranked else None
