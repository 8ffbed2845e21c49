"""Map words and emoji for an alert's state, in several languages."""

from __future__ import annotations

import re
import unicodedata

from bot.domain.alerts.alert import AlertState

F, R, A = AlertState.FIRING, AlertState.RESOLVED, AlertState.ACKNOWLEDGED
E, N, U = AlertState.ESCALATED, AlertState.NO_DATA, AlertState.UPDATE

# A whole bracket, prefix or field value that is one of these words states the state.
TOKENS: dict[AlertState, str] = {
    F: "firing fired triggered re-triggered retriggered alarm alert alerting problem down open opened active activated new started "
    "regressed ongoing failed failing failure error critical crit warning warn major degraded unhealthy unavailable "
    "unreachable investigating identified broken outage breached violated triggered:alert incident still-failing unstable service-impact "
    "alerte alarme alarma alerta alarm! störung ausfall fehler problema falla fallo falha erro caído caida offline "
    "panne incident-ouvert déclenché declenchee ausgelöst disparado disparada ativo activa activo ouvert ouverte offen "
    "allarme guasto errore storing alarmowy сбой авария тревога проблема недоступен 告警 报警 警报 異常 异常 故障 障害 "
    "障害発生 発生 警告 アラート 発報 エラー 触发 장애 경고 발생 चेतावनी अलर्ट विफल समस्या uyarı uyari arıza",
    R: "resolved recovered recovery ok okay up cleared clear closed normal back-to-normal service-is-operating-normally inactive ended fixed restored healthy "
    "succeeded success passed completed operational available green solved online "
    "résolu résolue resolu resolue rétabli rétablie terminé terminée clos gelöst behoben erledigt wiederhergestellt entwarnung "
    "resuelto resuelta recuperado recuperada normalizado normalizada solucionado cerrado cerrada restablecido restablecida "
    "resolvido resolvida restabelecido risolto risolta ripristinato rientrato opgelost hersteld rozwiązany çözüldü "
    "восстановлен восстановлено решено устранено решена норма 恢复 已恢复 解除 已解除 正常 已解决 恢復 復旧 復旧済み 解決 "
    "解決済み 回復 解消 복구 해결 정상 ठीक हल समाधान बहाल सामान्य",
    A: "acknowledged acknowledgement acknowledgment ack acked quittiert bestätigt acquitté acquittée reconocido reconocida reconhecido "
    "confirmé 確認済み 已确认 确认 対応中 принято подтверждено 확인 स्वीकृत",
    E: "escalated escalation eskaliert escaladé escaladée escalado escalada 升级 已升级 エスカレーション эскалация",
    N: "no-data nodata no_data insufficient_data insufficient-data datasourcenodata datasourceerror stale missing-data "
    "keine-daten sin-datos sem-dados pas-de-données データなし 無数据 无数据 нет-данных unknown",
    U: "monitoring update updated snoozed assigned reassigned progress in-progress comment note overvåger",
}

# Phrases in running text, tried in this order: what ended outranks what began ("was down for 6 minutes").
PHRASES: tuple[tuple[AlertState, str], ...] = (
    (
        N,
        r"\bno[ -]data\b|insufficient[ _]data|missing data|\bkeine daten\b|\bsin datos\b|\bsem dados\b|データなし|无数据",
    ),
    (
        A,
        r"\backnowledged\b|\backnowledg?ement\b|\backed by\b|\bquittiert\b|\bacquitt[ée]e?\b|\breconocid[oa]\b|已确认|確認済み",
    ),
    (E, r"\bescalated\b|\beskaliert\b|\bescalad[oa]\b|エスカレーション|已升级"),
    (
        R,
        r"\bhas recovered\b|\brecovered\b|\brecovery\b|\bresolved\b|\bback to normal\b|\bcleared\b|\bviolation ended\b|\brestored\b"
        r"|\b(?:is|are|back) (?:now )?(?:up|online|healthy|ok|operational)\b|\bis operating normally\b|\bback online\b|\bclosed\b"
        r"|\bsucceeded\b|\bsuccessful(?:ly)?\b|\bcompleted successfully\b|\bended\b|\ball clear\b|\bfixed\b|\bOK\b|\bpassed\b"
        r"|\bbehoben\b|\bgel[öo]st\b|\bwiederhergestellt\b|\bwieder (?:erreichbar|online|ok|normal|da|verf[üu]gbar)\b|\bentwarnung\b"
        r"|\br[ée]solue?\b|\br[ée]tablie?\b|\bretour [àa] la normale\b|\bde nouveau (?:disponible|en ligne)\b"
        r"|\bresuelt[oa]\b|\brecuperad[oa]\b|\bnormalizad[oa]\b|\brestablecid[oa]\b|\bsolucionad[oa]\b|\bvuelve a\b|\bde nuevo en l[íi]nea\b"
        r"|\bresolvid[oa]\b|\brestabelecid[oa]\b|\bvoltou ao normal\b|\brisolt[oa]\b|\bripristinat[oa]\b|\bopgelost\b|\bhersteld\b"
        r"|восстановлен|решен[оа]|устранен|恢复|恢復|已解决|解除|復旧|解決|回復|正常に戻|解消|복구|해결|बहाल|ठीक हो|हल हो|सामान्य",
    ),
    (
        F,
        r"\bfir(?:ing|ed)\b|\b(?:re-?)?triggered\b|\balerting\b|\bis active\b|\bis (?:now )?down\b|\bwent down\b|\bDOWN\b|\boffline\b|\bfail(?:ed|ing|s|ure|ures)\b"
        r"|\bdegraded\b|\baborted\b|\bunhealthy\b|\bunreachable\b|\bunavailable\b|\bexceed(?:ed|s|ing)\b|\boutage\b|\bdowntime\b|\bcrash(?:ed|ing|loop\w*)?\b"
        r"|\bwill expire\b|\bexpires? (?:in|soon)\b|\bexpired\b|\bnot responding\b|\btimed? ?out\b|\bdropped\b|\babove\b|\bbelow\b|\bbreach(?:ed)?\b"
        r"|\bnot meeting\b|\bhas not (?:run|completed|checked in|reported)\b|\bmissed\b|\bviolation (?:started|opened)\b|\boccurr(?:ed|ence)\b|\bnew error\b"
        r"|\bincreased (?:api )?(?:error|latenc)\w*|\bservice impact\b|\bstuck\b|\boverload(?:ed)?\b|\bspike\b|\bhigh\b|\blow\b|\btoo (?:high|low|many|slow)\b|\bfull\b|\bdoes not exist\b|\bnot running\b|\bstopped\b"
        r"|\berrors?\b|\balerte?\b|\balarme?\b|\balert[ae]\b|\bincident (?:opened|started|for)\b|\bdisrupt(?:ed|ion)\b|\bwarning\b|\bcritical\b|\bproblem\b|\bunder[- ]replicated\b|\blag(?:ging)?\b|\bfilling\b"
        r"|\bindisponible\b|\ben panne\b|\b[ée]chec\b|\b[ée]chou[ée]e?\b|\bd[ée]pass[ée]e?\b|\bhors ligne\b|\bcritique\b"
        r"|\bausgefallen\b|\bfehlgeschlagen\b|\bnicht (?:erreichbar|verf[üu]gbar)\b|\bst[öo]rung\b|\bausfall\b|\bfehler\b|\b[üu]berschritten\b|\bvoll\b|\babgest[üu]rzt\b"
        r"|\b(?:latencia|latência|carga|uso) (?:muy |muito )?alt[ao]\b|\balta (?:latencia|latência)\b|\btrop [ée]lev[ée]e?\b|\bzu hoch\b|\bhohe (?:latenz|last|fehlerrate)\b"
        r"|\bca[íi]d[oa]\b|\bfall[óoa]\w*\b|\bno responde\b|\bno disponible\b|\bsuperad[oa]\b|\bcr[íi]tic[oa]\b|\blleno\b|\bfuera de servicio\b"
        r"|\bfalh(?:a|ou)\w*\b|\bindispon[íi]vel\b|\bfora do ar\b|\bexcedid[oa]\b|\bcheio\b|\bnon raggiungibile\b|\bguasto\b"
        r"|сбой|недоступ|ошибк|авари|превыш|упал|告警|报警|異常|异常|故障|障害|失败|失敗|超过|超過|过高|過高|不可用|エラー|超え|停止|ダウン|遅延|장애|실패|초과|오류|विफल|त्रुटि|बंद|डाउन|चेतावनी",
    ),
)

_EMOJI: dict[AlertState, str] = {
    F: "🔴 🚨 🔥 ❌ ⛔ 🛑 🆘 📛 💥 ‼️ ❗ 🟥 🚫 ☠️ 💀 red_circle large_red_circle rotating_light fire x no_entry no_entry_sign exclamation "
    "heavy_exclamation_mark bangbang boom sos octagonal_sign red_square large_red_square skull name_badge siren alert",
    R: "✅ 🟢 💚 ✔️ ☑️ 🟩 🎉 white_check_mark large_green_circle green_circle green_heart heavy_check_mark ballot_box_with_check large_green_square "
    "green_square tada check resolved ok_hand",
}
_WEAK_EMOJI_LISTED = (
    "⚠️ ⚠ 🟡 🟠 🟧 🟨 warning large_yellow_circle large_orange_circle yellow_circle orange_circle large_orange_diamond"
)
_WEAK_EMOJI = frozenset(_WEAK_EMOJI_LISTED.split())
_BY_EMOJI = {name.rstrip("\ufe0f"): state for state, names in _EMOJI.items() for name in names.split()}
_BY_TOKEN = {word: state for state, words in TOKENS.items() for word in words.split()}
_COMPILED = tuple((state, re.compile(pattern, re.IGNORECASE)) for state, pattern in PHRASES)
_EMOJI_HEAD = re.compile(
    r"^[\s*_~>•\-]*(?::([a-z0-9_+\-]{1,40}):|([\u2300-\u23ff\u2600-\u27bf\u203c\u2049\u2b00-\u2bff\U0001f000-\U0001faff])\ufe0f?)"
)
_COUNT = re.compile(r"[:：]?\s*\d{1,5}$")
_RESOLVED_HUES, _FIRING_HUES = (75.0, 175.0), (335.0, 25.0)


_EMOJI_TAIL = re.compile(
    r"(?:\s*(?::[a-z0-9_+\-]{1,40}:|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]\ufe0f?))+\s*$"
)


def strip_trailing_emoji(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text without emoji at its end, and their names."""
    match = _EMOJI_TAIL.search(text)
    if not match:
        return text, ()
    return text[: match.start()], strip_emoji(match[0])[1]


def strip_emoji(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text without leading emoji and bullets, and the names of those emoji."""
    names: list[str] = []
    while match := _EMOJI_HEAD.match(text):
        names.append(match[1] or match[2])
        text = text[match.end() :]
    return text.lstrip(" \t*_~>•\ufe0f\u200d"), tuple(names)


def read_emoji_state(names: tuple[str, ...]) -> AlertState | None:
    """Return the state that leading emoji report: red fires, green is over; warnings report none."""
    return next((_BY_EMOJI[n] for n in names if n in _BY_EMOJI), None)


def is_warning_emoji(name: str) -> bool:
    """Return whether this emoji marks a warning."""
    return name in _WEAK_EMOJI


def read_token_state(word: str) -> AlertState | None:
    """Return the state that a whole bracket, prefix or field value names ("FIRING:2", "Back to normal", "RÉSOLU")."""
    folded = unicodedata.normalize("NFC", strip_emoji(word)[0]).casefold().strip(" .!:：*`'\"")
    folded = _COUNT.sub("", folded).strip()
    return _BY_TOKEN.get(folded) or _BY_TOKEN.get(re.sub(r"[\s_]+", "-", folded[:60]))


def read_phrase_state(text: str) -> AlertState | None:
    """Return the state that a sentence reports; None if it reports none."""
    return next((state for state, pattern in _COMPILED if pattern.search(text[:4000])), None)


def read_color_state(color: str) -> AlertState | None:
    """Return the state of a hex color: green is over, red fires; yellow, gray, blue and broken values say nothing."""
    if len(color) != 6 or not all(c in "0123456789abcdef" for c in color):
        return None
    red, green, blue = (int(color[i : i + 2], 16) for i in (0, 2, 4))
    spread = max(red, green, blue) - min(red, green, blue)
    if spread < 50:
        return None
    if max(red, green, blue) == red:
        hue = 60 * ((green - blue) / spread) % 360
    elif green >= blue:
        hue = 60 * ((blue - red) / spread) + 120
    else:
        return None
    if _RESOLVED_HUES[0] <= hue <= _RESOLVED_HUES[1]:
        return AlertState.RESOLVED
    return AlertState.FIRING if hue >= _FIRING_HUES[0] or hue <= _FIRING_HUES[1] else None
