"""Find measurable signs in a post: metrics with value and threshold, error codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote_plus

from bot.domain.alerts.alert import Symptom
from bot.parsers.vocabulary.severities import read_severity
from bot.parsers.vocabulary.states import read_token_state

_MOST = 24
_MOST_LINES = 30  # lines with numbers: an alert's own readings are among the first
_MOST_CHARS = 2_400  # of these lines together
_NUMBER = r"[-+]?\d[\d.,]{0,18}(?<![.,])"
_UNIT = r"(?:\s?(?:%|％|ms|µs|ns|secs?|seconds?|s|m|min(?:utes)?|h|hours?|days?|x|[KMGT]i?B(?:/s)?|[kKMG]bps|rps|qps|req/s|ops/s|/min|/s|°C|Sekunden|segundos)(?![A-Za-z]))?"
_VALUE = rf"({_NUMBER}{_UNIT})"
_NAME = r"(?<!\w)([^\W\d][\w\u0900-\u0dff .'’/()\-]{1,60}?)"
_LIMIT = r"(?:threshold|limit|baseline|max(?:imum)?|seuil|limite|schwelle|schwellwert|grenzwert|grenze|umbral|l[íi]mite|limiar|soglia|порог|阈值|閾値|しきい値|基准|上限|임계값|सीमा|normal(?:ly)?|expected|target|SLO)"
_OP = r"(>=|<=|≥|≤|>|<)"
_CMP = {"≥": ">=", "≤": "<="}
_HTTP = re.compile(
    r"\bHTTP(?:/\d(?:\.\d)?)?[ :_-]{0,2}(?:status|error|code|response)?[ :_-]{0,2}(?:code)?[ :]{0,2}([45]\d\d)\b(?!\s?(?:ms|%|x))",
    re.IGNORECASE,
)
_STATUS = re.compile(r"\b(?:status|response|error)[ _]?(?:code)?[ :=]{1,3}([45]\d\d)\b(?!\s?(?:ms|%))", re.IGNORECASE)
_BARE = re.compile(
    r"(?<![\w.,:/#=$€£+-])(429|408|499|5(?:0[0-5]|2[0-7]))\b(?![\w%.,:/]|\s?(?:ms|s|%|times|events|requests|rps|MB|GB|KB)\b)s?"
)
_CLASS = re.compile(r"(?<![\w.])([45]xx)(?!\w)", re.IGNORECASE)
_UPPER = re.compile(r"(?<![\w./])([A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8})(?![\w/])")
_CAMEL = re.compile(
    r"(?<![\w/])((?:[A-Z][A-Za-z0-9]{1,60}?)(?:Error|Exception|Timeout|BackOff|Failure|Refused|Killed|Unavailable|Deadlock|Rejected|Evicted|NotReady))(?![\w])"
)
_SNAKE = re.compile(
    r"(?<![\w./])([a-z][a-z0-9]{1,20}(?:_[a-z0-9]{1,20}){0,5}_(?:error|errors|exceeded|timeout|failed|failure|expired|refused|denied|unavailable|invalid|rejected|limited))(?![\w=])"
)
_CODE = re.compile(
    r"\b(?:error(?=[ :]+\d)|error[ _]?code|errcode|code|errno|fehlercode|código|codigo|错误码|エラーコード)(?! (?:de|do|da|of)\b)[\"']?\s?[:=]?\s?[\"'`]?([A-Za-z]{0,12}[-_]?\d{1,8}|[A-Za-z][A-Za-z0-9]{1,30}(?:[_.-][A-Za-z0-9]{1,30}){1,6}|[A-Z]{2,20})\b",
    re.IGNORECASE,
)
_SQLSTATE = re.compile(r"(?<![\w.,])(\d{5}|[0-9A-Z]{5}) ([a-z]{3,20}_[a-z_]{3,40})\b")
_SHORT_CODE = re.compile(r"(?:^|[\s:`(])([A-Z]{1,3}\d{2,5}) ([a-z]{3,20}(?: [a-z]{3,20}){0,3})")
_EXIT = re.compile(
    r"\b((?:[\w.-]{2,30} )?exit(?:ed)?(?: with)?(?: code| status)?:? \d{1,3}|c[óo]digo de sa(?:í|i|lí|li)da \d{1,3})\b",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(time[d -]?out|deadline exceeded|connection (?:refused|reset|timed out)|no such host|name resolution|bad gateway|service unavailable"
    r"|gateway time-?out|out of memory|oom[ -]?killed|no space left|disk full|too many (?:connections|requests|open files)|permission denied|access denied"
    r"|segmentation fault|certificate (?:has )?expired|has not (?:run|completed|checked in|reported)[\w ]{0,20}|did not arrive on time|rate limit(?:ed| exceeded)?"
    r"|lock timeout|deadlock|host unreachable|no route to host|broken pipe|read-?only file system|packet loss|not responding|zeitüberschreitung|délai (?:d'attente )?dépassé|tiempo de espera|tempo (?:limite )?esgotado|conexão recusada|conexión rechazada|connexion refusée|verbindung abgelehnt)\b"
    r"|(接続タイムアウト|タイムアウト|接続拒否|连接超时|连接被拒绝|연결 시간 초과)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^(degraded|unhealthy|crashloopbackoff|oomkilled|outofsync|imagepullbackoff|missing|suspended)$", re.IGNORECASE
)
_NOT_CODES = frozenset(["INSUFFICIENT_DATA", "NO_DATA", "NOT_FOUND"])
_STAMP = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d|\d{1,2}/\d{1,2}/\d\d")
_DULL = re.compile(
    r"^(?:.*_)?(?:id|time|stamp|date|duration|length|since|started|at|version|release|account|port|pid|number|issue|build|commit|revision|ts|ip|event|"
    r"schedule|ping|pings|tags|unique|tiny|check|monitor|incident|item|时间|持续时间|時間|durée|dauer|duración|threshold|limit|uid|group|_index|url|expr|line|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|code|http|status|error|errors_in|port)$",
    re.IGNORECASE,
)

_NO_NAME = re.compile(r"^(?:is|was|are|with|for|and|at)$| (?:above|over|below|under|exceeds|exceeded)$", re.IGNORECASE)

_OPS = (">", "<", "≥", "≤")
# pattern, what its groups are in order, and what a line must hold for it to be worth trying
_METRICS: tuple[tuple[re.Pattern[str], str, tuple[str, ...]], ...] = (
    (re.compile(rf"{_NAME}\s*{_VALUE}\s?(?:超过|超過|大于|高于)\s?(?:阈值|閾値|しきい値)?\s?{_VALUE}"), "name value over", ("超过", "超過", "大于", "高于")),
    (re.compile(rf"{_NAME}\s+(?:is |was |has )?(above|over|exceeds|exceeded|below|under) (?:the )?(?:threshold of )?{_VALUE}(?: with a value of {_VALUE})?", re.IGNORECASE), "name side limit value", ("above", "over", "exceed", "below", "under")),
    (re.compile(rf"{_NAME}\s+(?:is|was) {_VALUE},? which is {_OP} {_VALUE}", re.IGNORECASE), "name value op limit", _OPS),
    (re.compile(rf"\b(?:com|with|mit|con|avec|has|hat|tiene|tem|a) {_VALUE} ([^\W\d]{{3,30}}) \({_LIMIT}[ :=]{{0,3}}{_VALUE}", re.IGNORECASE), "value name limit", ("(",)),
    (re.compile(rf"\b([A-Z][\w ]{{2,40}}): ({_NUMBER}\s?%)"), "name value", ("%",)),
    (re.compile(rf"{_NAME}\s*(?:[:：=]|is|was|at|ist|est|es|of)?\s*{_VALUE}\s*[(（]\s*{_LIMIT}[ :=]{{0,3}}(?:is |of )?{_VALUE}", re.IGNORECASE), "name value limit", ("(", "（")),
    (re.compile(rf"{_NAME}\s*(?:[:：=]|is|was|at)?\s*{_VALUE}\s*[(（]\s*{_OP}\s*{_VALUE}", re.IGNORECASE), "name value op limit", _OPS),
    (re.compile(rf"{_NAME}(?: (?:average|avg|mean|max|min|sum|p\d\d))?\s*[:：=]?\s*{_VALUE}\s*{_OP}\s*(?:baseline |threshold )?{_VALUE}", re.IGNORECASE), "name value op limit", _OPS),
    (re.compile(rf"(?:^|: |[-–] ){_NAME}\s*{_OP}\s*{_VALUE}", re.IGNORECASE), "name op value", _OPS),
    (re.compile(rf"{_NAME}\s+(?:is|was|at|reached|dropped to|rose to|fell to|liegt bei|ist|beträgt|est à|está en|está em|has reached)\s+(?:now |at |only |above |below |over )?{_VALUE}", re.IGNORECASE), "name value", ()),
    (re.compile(rf"([^\s\d*][^\s*]{{0,30}}?)(?:が|は|를|이|:|：)\s?{_VALUE}\s?(?:を超え|に達し|초과|になり|를 초과|पार)"), "name value", ("超え", "達し", "초과", "になり", "पार")),
    (re.compile(rf"([\w^\s ]{{2,30}}?)[：:]\s*{_VALUE}\s*[（(]\s*(?:阈值|閾値|しきい値|सीमा)\s*{_VALUE}"), "name value limit", ("(", "（")),
    (re.compile(rf"(?:^|more than |at least |{_OP} ){_VALUE}\s+((?:log )?(?:events?|occurrences|errors|failures|requests|restarts|messages|exceptions|jobs|users|pods|nodes|timeouts))\b", re.IGNORECASE), "op value name", ()),
    (re.compile(rf"{_VALUE} of ((?:[a-z]{{2,20}} ){{0,2}}(?:fail(?:ed|ing)?|errors?|time ?out|requests|users|calls|checks|messages|deliveries|transactions|payments|orders|logins|attempts))\b", re.IGNORECASE), "value name", (" of ",)),
    (re.compile(r"\b(\d{1,9} of \d{1,9}) ([a-z]{3,20})\b", re.IGNORECASE), "value name", (" of ",)),
    (re.compile(r"\b(restart)ed (\d{1,6}) times\b", re.IGNORECASE), "name value", ("restarted",)),
    (re.compile(r"\b(certificate)\b.{0,120}?\bexpires? in (\d{1,4}) days?\b", re.IGNORECASE), "certificate", ("certificate",)),
    (re.compile(rf"^\s*((?:[A-Z][\w()]{{1,30}})(?: [a-z][\w()]{{1,20}}){{0,4}}) {_VALUE}\s*$"), "name value", ()),
    (re.compile(rf"\b([a-z][a-z0-9_]{{1,30}}\(\d{{1,6}}\)) {_VALUE}"), "name value", ("(",)),
    (re.compile(rf"\b([A-Z][A-Za-z]{{2,20}}(?: [A-Za-z()]{{2,12}}){{0,4}}) {_VALUE}(?=,|$)"), "name value", ()),
)  # fmt: skip
_DATAPOINTS = re.compile(
    rf"datapoints? \[({_NUMBER})[^\]]{{0,400}}\] (?:was|were) (not )?(greater than or equal to|less than or equal to|greater than|less than) the threshold \(({_NUMBER})\)"
)
_SAID = {"greater than": ">", "less than": "<", "greater than or equal to": ">=", "less than or equal to": "<="}
_KEY_VALUE = re.compile(rf"^{_VALUE}(?:\s*[(（]\s*(?:{_LIMIT}[ :=]{{0,3}}|{_OP}\s*){_VALUE})?", re.IGNORECASE)
_GRADED = re.compile(r"warn/crit at ([\d.]+%?)/([\d.]+%?)")
_LISTED = re.compile(r"\b([A-Za-z][A-Za-z_]{2,30}): (\d[\d.]{0,12}%?)(?=[,;]|\s*$)")
_EXPRESSION = re.compile(r"g0\.expr=(\w{2,80}) (>=|<=|>|<) [\d.]+(?:&|$)")
_COMPARED = re.compile(rf"{_VALUE} \({_OP} {_VALUE}\)")
_TRAILING = re.compile(r" (?:liegt bei|beträgt|dropped to|rose to|fell to|est à|está en|está em)$", re.IGNORECASE)
_SELECTOR = re.compile(r"(?: with metric labels)? ?\{\w[^{}\n:]{0,200}=[^{}\n]{0,200}\}")
_LEADING = re.compile(
    r"^(?:the|a|an|its|le|la|les|der|die|das|el|los|o|and|current|trigger(?:ing)? when|alert when|signal value for)\s+",
    re.IGNORECASE,
)


def build_error(code: str, text: str | None = None) -> Symptom:
    """Build an error symptom."""
    return Symptom(kind="error", code=code, text=text)


def build_metric(name: str, value: str | None, op: str | None = None, threshold: str | None = None) -> Symptom:
    """Build a metric symptom; values keep the unit that they were written with."""
    return Symptom(kind="metric", name=name, value=value, op=_CMP.get(op or "", op), threshold=threshold)


def _infer_side(name: str, value: str, limit: str | None) -> str | None:
    """Return which side of an unsigned limit a value is on: ">" if it is larger, "<" if smaller."""
    try:
        now, bound = (float(re.sub(r"[^\d.\-]", "", x.replace(",", ""))) for x in (value, limit or ""))
    except ValueError:
        return None
    if re.search(r"success|availability|uptime|free|remaining|apdex|erfolg|réussite|成功", name, re.IGNORECASE):
        return "<"
    return ">" if now != bound else None


def _clean_name(raw: str) -> str:
    name = _TRAILING.sub("", _LEADING.sub("", raw.strip(" -–:*'\",.•")).strip())
    return name if name.count("(") == name.count(")") else name.strip("() ")


def _read_match(match: re.Match[str], shape: str) -> Symptom | None:
    """Build the metric of one pattern's match; `shape` names its groups in order."""
    if shape == "certificate":
        return build_metric("certificate days left", match[2])
    got = dict(zip(shape.split(), match.groups(), strict=False))
    name, value, limit = _clean_name(got.get("name") or ""), (got.get("value") or "").strip(), got.get("limit")
    if (
        len(name) < 2
        or re.match(r"/\d", match.string[match.end() :])
        or _NO_NAME.search(name)
        or re.search(r"\b\d[\d.,]*\b.* is$| is \d", name)
        or _STAMP.search(name)
        or _DULL.match(name.replace(" ", "_"))
    ):
        return None
    op = got.get("op")
    if "side" in got:
        op = "<" if (got["side"] or "").casefold() in {"below", "under"} else ">"
        return build_metric(re.sub(r" (?:for|of) \S.*$", "", name), value or limit, op, limit)
    if "over" in got:
        return build_metric(name, value, ">", got["over"])
    if (
        "op" in shape
        and shape.startswith("op")
        and not op
        and match[0].casefold().startswith(("more than", "at least"))
    ):
        op = ">"
    if shape == "name op value":
        return build_metric(name, value, op, value)
    if name.casefold() == "restart":
        name = "restarts"
    if " of " in value and "fail" in match.string.casefold():
        name = f"{name} failing"
    return build_metric(name, value, op or (_infer_side(name, value, limit) if limit else None), limit)


def find_expression_metrics(urls: Iterable[str], text: str) -> list[Symptom]:
    """Return the metric of a Prometheus graph link, with the value and limit in the text."""
    found = []
    for url in urls:
        match = _EXPRESSION.search(unquote_plus(url)) if "g0.expr=" in url else None
        told = _COMPARED.search(text) if match else None
        if match and told and told[2] == match[2]:
            found.append(build_metric(match[1], told[1].strip(), told[2], told[3].strip()))
    return found


def find_metrics(text: str) -> list[Symptom]:
    """Return the metrics in running text, line by line, among the first lines that contain numbers."""
    found: list[Symptom] = []
    looked_at, left = 0, _MOST_CHARS
    found += [build_metric("datapoint", m[1], _SAID[m[3]], m[4]) for m in _DATAPOINTS.finditer(text)]
    for line in text.split("\n"):
        line = line.strip()[: min(400, left)]
        if not any(c.isdigit() for c in line) or "datapoint" in line:
            continue
        line = _SELECTOR.sub("", line)
        looked_at += 1
        left -= len(line)
        if looked_at > _MOST_LINES:
            break
        folded = line.casefold()
        found.extend(build_metric(m[1], m[2]) for m in _LISTED.finditer(line) if not _DULL.match(m[1]))
        for pattern, shape, hints in _METRICS:
            if hints and not any(hint in folded for hint in hints):
                continue
            found.extend(s for s in (_read_match(m, shape) for m in pattern.finditer(line)) if s)
    return found


def find_label_metrics(labels: Mapping[str, str]) -> list[Symptom]:
    """Return the metrics among labels: numbers under keys that are no ids, times or versions."""
    found = []
    for key, value in labels.items():
        match = _KEY_VALUE.match(value)
        if (
            not match
            or _DULL.match(key)
            or _STAMP.search(value)
            or not re.match(r"^[\s(（×x,;/a-z%.]*", value[match.end(1) :])
        ):
            continue
        rest = value[match.end() :].strip()
        measured = match[1].endswith("%") or match[3]
        if not measured and (len(rest) > 60 or rest[:1].isalnum() or rest.startswith("-")):
            continue
        graded = _GRADED.search(rest)
        if graded:
            found.append(build_metric(key, match[1].strip(), ">", graded[2]))
            continue
        name = key.replace("_", " ") if not key.islower() else key
        found.append(
            build_metric(
                name,
                match[1].strip(),
                match[2] or (_infer_side(name, match[1], match[3]) if match[3] else None),
                match[3],
            )
        )
    return found


def _is_word_of_state(word: str) -> bool:
    """Return whether the word after a short code says how bad it is, not what it is ("LMD8812 critical")."""
    return read_severity(word) is not None or read_token_state(word) is not None


def find_errors(text: str) -> list[Symptom]:
    """Return the error codes and error names in the text."""
    found = [build_error(f"HTTP {m[1]}") for p in (_HTTP, _STATUS, _BARE) for m in p.finditer(text)]
    found += [build_error(m[1].lower()) for m in _CLASS.finditer(text)]
    found += [build_error(m[1]) for m in _UPPER.finditer(text) if m[1] not in _NOT_CODES]
    found += [build_error(m[1]) for p in (_CAMEL, _SNAKE) for m in p.finditer(text)]
    found += [build_error(m[1]) for m in _CODE.finditer(text) if m[1].casefold() not in {"http", "status"}]
    found += [
        build_error(m[1], m[2])
        for p in (_SQLSTATE, _SHORT_CODE)
        for m in p.finditer(text)
        if not _is_word_of_state(m[2])
    ]
    found += (
        [build_error(m[1]) for m in _EXIT.finditer(text)] if re.search(r"exit|c[óo]digo", text, re.IGNORECASE) else []
    )
    found += [build_error((m[1] or m[2]).lower()) for m in _PHRASE.finditer(text)]
    return found


def find_conditions(labels: Mapping[str, str]) -> list[Symptom]:
    """Return the conditions that a label's whole value names ("Health Status: Degraded")."""
    return [build_error(value) for value in labels.values() if _CONDITION.match(value)]


def remove_duplicates(symptoms: Iterable[Symptom]) -> tuple[Symptom, ...]:
    """Return each symptom once (same name and value, or same code), in its most telling form; at most 24."""
    kept: dict[tuple[str, ...], Symptom] = {}
    for s in symptoms:
        key = (s.kind, (s.code or s.name or "").casefold(), s.value or "")
        if key not in kept or (s.threshold and not kept[key].threshold):
            kept[key] = s
    return tuple(kept.values())[:_MOST]
