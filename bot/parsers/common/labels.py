"""Find labels in a post: fields, `key: value` lines, `key=value` pairs, tags and JSON-like dumps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.parsers.message import Message

_ALIASES = {
    "主机": "host", "主机名": "host", "ホスト": "host", "サーバー": "host", "服务器": "host", "호스트": "host", "serveur": "host",
    "servidor": "host", "hôte": "host", "хост": "host", "सर्वर": "host", "rechner": "host", "级别": "severity", "級別": "severity",
    "等级": "severity", "严重级别": "severity", "告警级别": "severity", "重要度": "severity", "深刻度": "severity", "심각도": "severity",
    "sévérité": "severity", "severidad": "severity", "severidade": "severity", "gravedad": "severity", "gravité": "severity",
    "schweregrad": "severity", "gravità": "severity", "важность": "severity", "गंभीरता": "severity", "prioridad": "priority",
    "priorité": "priority", "priorität": "priority", "prioridade": "priority", "优先级": "priority", "優先度": "priority",
    "prio": "priority", "服务": "service", "服務": "service", "サービス": "service", "서비스": "service", "servicio": "service",
    "serviço": "service", "servizio": "service", "dienst": "service", "сервис": "service", "सेवा": "service", "应用": "service",
    "アプリ": "service", "svc": "service", "environnement": "environment", "umgebung": "environment", "entorno": "environment",
    "ambiente": "environment", "环境": "environment", "環境": "environment", "환경": "environment", "среда": "environment",
    "पर्यावरण": "environment", "région": "region", "región": "region", "região": "region", "regione": "region", "区域": "region",
    "地域": "region", "リージョン": "region", "리전": "region", "регион": "region", "क्षेत्र": "region", "fournisseur": "vendor",
    "proveedor": "vendor", "fornecedor": "vendor", "anbieter": "vendor", "fornitore": "vendor", "供应商": "vendor",
    "ベンダー": "vendor", "विक्रेता": "vendor", "поставщик": "vendor", "渠道": "vendor", "状态": "status", "状態": "status",
    "ステータス": "status", "상태": "status", "estado": "status", "état": "status", "zustand": "status", "stato": "status",
    "статус": "status", "स्थिति": "status", "当前值": "value", "現在値": "value", "時間": "time", "时间": "time", "ns": "namespace",
    "k8s.ns.name": "namespace", "accountid": "account", "account_id": "account", "aws_account": "account", "service.name": "service",
    "service_name": "service", "env.name": "environment", "host.name": "host", "त्रुटि": "error", "エラー": "error", "错误": "error", "fehler": "error", "sunucu": "host", "önem": "severity", "ortam": "environment", "bölge": "region", "hizmet": "service", "servis": "service", "knoten": "node", "nodo": "node", "nœud": "node", "máquina": "host", "maschine": "host", "prestataire": "vendor", "dienstleister": "vendor",
    "criticidad": "severity", "criticidade": "severity", "criticité": "severity", "dringlichkeit": "severity", "规则": "rule", "監視": "monitor", "检查": "check",
}  # fmt: skip
_LINE = re.compile(
    r"^[\s•·\-*>–]*([^\W\d][\w\u0900-\u0dff .'/()&#-]{0,38}?)[ \t]?[:：=][ \t]+(\S.{0,600})$|^[\s•·\-*>–]*([^\W\d][\w\u0900-\u0dff]{0,20})[：:]([^\s/:].{0,600})$"
)
_SPLIT = re.compile(r"\s+[|–—·•]\s+|\s{3,}|;\s+")
_ORDINAL = re.compile(r"^\s*#\d{1,4}:\s+")
_IP = re.compile(r"\s{0,3}\(IP:?\s*([\d.:a-fA-F]{3,45})\)$", re.IGNORECASE)
_EQUALS = re.compile(r"(?<![\w?&/=.-])([A-Za-z_@][\w.\-]{0,40})=(?!=)")
_URL = re.compile(r"https?://\S+")
_TAG = re.compile(r"(?<![\w/:])@?([a-z][\w.\-]{0,40}):([A-Za-z0-9_][\w./\-]{0,100})")
_TAG_KEYS = ("tags", "labels", "etiquetas", "étiquettes", "タグ", "标签")
_OPEN = re.compile(r"^\s*\"?([\w.@-]{1,40})\"?\s*:\s*\{\s*$")
_JSON_INLINE = re.compile(r'"([\w.@-]{1,40})"\s?:\s?(?:"([^"\n]{1,300})"|(-?\d[\d.]{0,18}|true|false)(?=[\s,}]))')
_JSON_PAIR = re.compile(r'^\s*"([\w.@-]{1,40})"\s*:\s*"?([^"]{1,300})"?,?\s*$')


def normalize_key(label: str) -> str:
    """Return a label's key: foreign and long names mapped, spaces and capitals folded (but not inner capitals)."""
    text = label.strip(" \t*:：`•-")
    folded = re.sub(r"[\s\-/]+", "_", text.casefold())
    spelled = folded if text[:1].isupper() or " " in text or "-" in text else re.sub(r"[\s\-]+", "_", text)
    return _ALIASES.get(text.casefold(), _ALIASES.get(folded, spelled))


def find_equals_pairs(text: str) -> list[tuple[str, str]]:
    """Return the `key=value` pairs of one line. A value of several words is kept if another pair follows it."""
    text = _URL.sub(" ", text[:4000])
    found = list(_EQUALS.finditer(text))[:80]
    pairs = []
    for i, match in enumerate(found):
        last = i + 1 == len(found)
        chunk = text[match.end() : match.end() + 300 if last else found[i + 1].start()].strip(" ,;")
        if chunk.startswith('"') and '"' in chunk[1:]:
            value = chunk[1:].partition('"')[0]
        elif last or len(chunk.split()) > 3 or chunk[:1].isdigit():
            value = chunk.split(" ")[0]
        else:
            value = chunk
        value = re.split(r"[,;)\]}]", value, maxsplit=1)[0].strip(" `'\"")
        if value:
            pairs.append((match[1], value))
    return pairs


def find_tag_pairs(text: str) -> list[tuple[str, str]]:
    """Return `key:value` tags without a space, as monitoring tools write scopes ("env:prod,service:api")."""
    return [(m[1], m[2].rstrip(".-/")) for m in _TAG.finditer(_URL.sub(" ", text[:8000])) if not m[2].isdigit()]


def _find_line_pairs(line: str) -> list[tuple[str, str]]:
    """Return the `key: value` pairs of one line, which may hold several with separators."""
    line = _ORDINAL.sub("", line)
    chunks = _SPLIT.split(line)
    if len(chunks) > 1 and not all(_LINE.match(chunk) for chunk in chunks if chunk.strip()):
        chunks = [line]
    pairs = []
    for chunk in chunks:
        match = _LINE.match(chunk)
        if match:
            key, value = (match[1], match[2]) if match[1] else (match[3], match[4])
            if len(key.split()) <= 4 and key.casefold() not in {"http", "https"}:
                pairs.append((key, value.strip()))
    return pairs


def find_body_pairs(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return all pairs of running lines, with one level of JSON-like nesting (`service: {"name": ...}` gives
    service.name)."""
    pairs: list[tuple[str, str]] = []
    outer = ""
    for line in lines:
        opening = _OPEN.match(line)
        inner = _JSON_PAIR.match(line)
        if opening:
            outer = opening[1]
        elif line.strip().startswith("}"):
            outer = ""
        elif inner:
            pairs.append((f"{outer}.{inner[1]}" if outer else inner[1], inner[2]))
        else:
            pairs.extend(_find_line_pairs(line))
    return pairs


@dataclass(frozen=True, slots=True)
class Labels:
    """Pairs by where they occur."""

    head: Mapping[str, str] = field(default_factory=dict)  # in the first lines
    fields: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)
    all: Mapping[str, str] = field(default_factory=dict)  # the union; the first one wins

    def find_first(self, *keys: str) -> str | None:
        """Return the value of the first of these keys that exists."""
        return next((self.all[key] for key in keys if self.all.get(key)), None)


def build_labels(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return pairs as a mapping with normalized keys; a key's first value counts; at most 80 labels of 300 characters."""
    found: dict[str, str] = {}
    for label, value in pairs:
        key = normalize_key(label)[:60]
        shown = value.strip(' `*"').strip()[:300]
        address = _IP.search(shown) if key == "host" else None
        if address and "ip" not in found:
            found["ip"], shown = address[1], shown[: address.start()]
        if key and shown and key not in found and len(found) < 80:
            found[key] = shown
    return found


def find_json_pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of JSON inside a line ({"alert": "...", "p95_ms": 2310})."""
    return [(m[1], m[2] or m[3]) for m in _JSON_INLINE.finditer(text[:8000])] if "{" in text and '":' in text else []


def _pair_bare_fields(message: Message) -> list[tuple[str, str]]:
    """Pair up fields without titles that alternate label and value ("AccountId", "111122223333")."""
    bare = [value for label, value in message.fields if not label and value]
    return list(zip(bare[::2], bare[1::2], strict=False)) if len(bare) > 1 and len(bare) % 2 == 0 else []


def find_labels(message: Message) -> Labels:
    """Return all labels that a post states."""
    head_lines = [line for line in (*message.headings, message.text.partition("\n")[0], *message.lines[:1]) if line]
    head = build_labels(pair for line in head_lines for pair in (*find_equals_pairs(line), *find_json_pairs(line)))
    fields = build_labels([(label, value) for label, value in message.fields if label] + _pair_bare_fields(message))
    inline = [pair for line in message.lines[:200] for pair in find_json_pairs(line)]
    body = build_labels(
        inline
        + find_body_pairs(message.lines)
        + [pair for line in message.lines[:200] for pair in find_equals_pairs(line)]
    )
    stated = {**body, **fields}
    tags = [pair for key in _TAG_KEYS if key in stated for pair in find_tag_pairs(stated[key])]
    return Labels(head, fields, body, build_labels([*fields.items(), *head.items(), *body.items(), *tags]))
