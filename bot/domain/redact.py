"""Secrets and personal data masked in text. Must not touch hashes, ids, pod names, times or plain numbers; linear in its input.

Mask before cutting a text: half a secret is not recognised.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping

_NAMES = (
    r"(?:(?:pg|db|user|root|admin|auth|access|client|refresh)?(?:pass(?:word|wd|phrase|code)|secret|token)|pwd|api[ _-]?key|access[ _-]?key"
    r"|private[ _-]?key|signing[ _-]?(?:key|secret)|client[ _-]?secret|auth[_-]?key|encryption[ _-]?key|credentials?|session[_-]?(?:id|key)|connection[_ -]?string|mot[_ ]de[_ ]passe"
    r"|passwort|kennwort|contraseña|senha|clave|密码|パスワード)"
)
_NAMED = rf"(?<![A-Za-z])(?:[A-Za-z0-9]{{1,30}}[_.-]){{0,4}}{_NAMES}(?:[_-][A-Za-z0-9]{{1,20}}){{0,2}}"
_IS = r"(?:[:=：]|%3[AaDd])"
_WORD = r"[^\s\"'`,;&<>|{}()\[\]]{3,500}"
_MIXED = r"[^\s\"'`,;<>|{}()\[\]]"
_PARAMS = r"token|key|apikey|api_key|api-key|secret|password|passwd|pwd|sig|signature|auth|access_token|code|session|jwt|credential|x-amz-[a-z-]{1,30}"
_TOKENS = (
    ("slack_token", r"\bxox[a-zA-Z]-[A-Za-z0-9-]{8,250}|\bxapp-\d-[A-Za-z0-9-]{8,250}|\bxoxe\.xox[bp]-[A-Za-z0-9-]{8,250}"),
    ("slack_webhook", r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{10,80}"),
    ("github_token", r"\bgh[pousr]_[A-Za-z0-9]{16,255}|\bgithub_pat_[A-Za-z0-9_]{16,255}"),
    ("gitlab_token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_-]{16,255}"),
    ("groq_key", r"\bgsk_[A-Za-z0-9]{16,255}"),
    ("hindsight_key", r"\bhsk_[A-Za-z0-9_-]{8,255}"),
    ("stripe_key", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,255}|\bwhsec_[A-Za-z0-9+/=]{16,255}"),
    ("razorpay_key", r"\brzp_(?:live|test)_[A-Za-z0-9]{8,64}"),
    ("model_key", r"\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,255}"),
    ("aws_key", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"),
    ("google_key", r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{16,1000}|\bGOCSPX-[A-Za-z0-9_-]{16,64}"),
    ("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    ("npm_token", r"\bnpm_[A-Za-z0-9]{30,64}|\bpypi-[A-Za-z0-9_-]{32,255}|\bdop_v1_[a-f0-9]{32,64}|\bhvs\.[A-Za-z0-9_-]{20,255}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,1000})?"),
)  # fmt: skip
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("pem", re.compile(r"-----BEGIN ([A-Z0-9 ]{0,40})-----[^-]{1,8000}(?:-----END [A-Z0-9 ]{0,40}-----|$)"), r"[masked:pem]"),
    ("url_password", re.compile(r"(?<=://)[^\s/@:?#\[\]]{0,200}:[^\s/@?#\[\]]{1,200}(?=@)"), "[masked:url_password]"),
    ("dsn", re.compile(r"(?<=://)[A-Fa-f0-9]{16,64}(?=@)"), "[masked:dsn]"),
    *((name, re.compile(pattern), f"[masked:{name}]") for name, pattern in _TOKENS),
    (
        "authorization",
        re.compile(r"((?:\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token|digest|apikey)?|\bbearer)\s{1,3})(?!\[masked)([A-Za-z0-9._~+/=-]{8,2000})", re.IGNORECASE),
        r"\1[masked:authorization]",
    ),
    ("secret", re.compile(rf"({_NAMED}[\"'`*_\\]{{0,9}}\s{{0,3}}{_IS}[*_]{{0,2}}\s{{0,3}}[\"'`\\]{{0,9}})(?!\[masked|\\)((?<=[\"'`])(?:[^\"'`\n\\]|\\(?![\"'`])){{3,500}}|{_WORD})", re.IGNORECASE), ""),
    # the name as a heading of its own, the value on the next line
    ("secret", re.compile(rf"(^(?:[^\S\n]|[>•*_`-]){{0,6}}(?:\w{{1,30}}[ ]){{0,2}}{_NAMED}[*_`]{{0,3}}[ ]?\n[\s>•*_`\"']{{0,6}})(?!\[masked)({_WORD})", re.IGNORECASE | re.MULTILINE), ""),
    # what a command is given: --password X, -u user:X, mysql -pX
    ("secret", re.compile(rf"((?<![\w-])--?(?:[a-z0-9]{{1,30}}[_-]){{0,4}}{_NAMES}[ ]{{1,2}}[\"']?)(?!\[masked|-)({_WORD})", re.IGNORECASE), ""),
    ("secret", re.compile(rf"((?<![\w-])(?:-u|--user|--proxy-user)[ =]{{0,2}}[\"']?[\w.@+-]{{1,100}}:)(?!\[masked)({_WORD})"), ""),
    ("secret", re.compile(rf"((?<![\w-])(?:(?:mysql|maria|mongo)\w{{0,12}}(?:[ ]{{1,3}}[^\s|;]{{1,100}}){{0,12}}?[ ]{{1,3}}-p|sshpass[ ]{{1,3}}-p[ ]{{0,2}}|redis-cli(?:[ ]{{1,3}}[^\s|;]{{1,100}}){{0,12}}?[ ]{{1,3}}-a[ ]{{1,2}})[\"']?)(?!\[masked)({_WORD})"), ""),
    # said in words: only a value that has letters and digits
    ("secret", re.compile(rf"((?<![A-Za-z]){_NAMES}(?:[ ](?:is|was|ist|lautet|est|es)[ ]{{1,2}}[\"'`]?(?={_MIXED}{{6}})|[ ]{{1,2}}[\"'`]?(?=[A-Za-z0-9]{{10,200}}(?![\w.:/=-]))))(?!\[masked)(?=[^\s]{{0,200}}?\d)(?=[^\s]{{0,200}}?[A-Za-z])(?![a-f0-9]{{40}}\b)({_WORD})", re.IGNORECASE), ""),
    ("secret", re.compile(rf"([?&](?:[\w.-]{{0,30}}[_.-])?(?:{_PARAMS})=)(?!\[masked)([^&#;\s\"'<>|)]{{3,2000}})", re.IGNORECASE), ""),
)  # fmt: skip
# every name of a secret holds one of these; in a text without them the rules that go by names need not be tried
_HINTS = (
    "pass",
    "secret",
    "token",
    "pwd",
    "key",
    "cred",
    "sess",
    "connect",
    "kennwort",
    "contrase",
    "senha",
    "clave",
    "密码",
    "パスワード",
)
_BY_NAME = frozenset(pattern for _, pattern, _ in _RULES if _NAMES in pattern.pattern)
_DULL_VALUES = re.compile(
    r"^(?:null|none|true|false|missing|expired|invalid|required|rotation|rotated|refresh|error|undefined|empty|unknown|https?:.*|\d{1,5}(?::\d{1,5})?|\*+|x{3,}|<.*|\[.*)$",
    re.IGNORECASE,
)
_LABEL = re.compile(rf"[\s*_`\"'•>-]{{0,6}}(?:\w{{1,30}}[ ]){{0,2}}{_NAMED}[\s*_`\"':：=]{{0,6}}$", re.IGNORECASE)
_ENDS = re.compile(rf"{_NAMED}[*_`\"']{{0,3}}\s{{0,3}}[:=][\s*_`\"']{{0,6}}$", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0001-\U000e007f]"
)
_EMAIL = re.compile(r"(?<![\w.+@/-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![\w-])")
_CARD = re.compile(r"(?<![\w.:/+-])(?:\d[ -]?){12,18}\d(?![\w.:/-]|-\d)")
_ISSUED = re.compile(r"(?:4\d{12}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$")
_PHONE = re.compile(
    r"(?<![\w.:/+=-])\+\d{1,3}(?:[ .-]?\(?\d{2,5}\)?){2,5}(?![\w:/-]|\.\d)|(?<![\w.:/+=-])\(\d{3}\) \d{3}-\d{4}(?!\d)|(?<![\w.:/+=-])\d{3}-\d{3}-\d{4}(?![\w-])"
)
_SECRET_PARAM = re.compile(
    r"((?:^|[?&;#])(?:[\w.-]{0,30}[_.-])?(?:" + _PARAMS + r")=)(?!\[masked)([^&#;\s]{1,2000})",
    re.IGNORECASE,
)


def _luhn(digits: str) -> bool:
    """Whether the digits pass the check of payment cards."""
    total = 0
    for i, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if i % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _card(match: re.Match[str]) -> str:
    """Masked if it is a card number: an issued prefix with its length, checksum, one kind of separator or none."""
    digits = re.sub(r"\D", "", match[0])
    grouped = len({c for c in match[0] if not c.isdigit()}) <= 1
    looks = _ISSUED.match(digits) is not None and len(set(digits)) > 1
    return "[masked:card]" if looks and grouped and _luhn(digits) else match[0]


def _secret(match: re.Match[str]) -> str:
    """The value behind a secret's name; words that only talk about the secret stay."""
    return match[0] if _DULL_VALUES.match(match[2]) else f"{match[1]}[masked:secret]"


_FUNCTIONS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    ("email", _EMAIL, lambda _: "[masked:email]"),
    ("card", _CARD, _card),
    ("phone", _PHONE, lambda _: "[masked:phone]"),
)


def mask(text: str) -> tuple[str, Mapping[str, int]]:
    """The text with secrets replaced by `[masked:<rule>]`, and how often each rule struck. Masking twice changes nothing.

    Where a secret's name is written in other forms of its letters or with characters that do not show, the text is
    given back in plain ones.
    """
    masked, counts = _masked(text)
    if text.isascii() or (plain := _INVISIBLE.sub("", unicodedata.normalize("NFKC", masked))) == masked:
        return masked, dict(counts)
    again, more = _masked(plain)
    return (again, dict(counts + more)) if more else (masked, dict(counts))


def _masked(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    shown = text.casefold()
    named = any(hint in shown for hint in _HINTS)
    for name, pattern, replacement in _RULES:
        if pattern in _BY_NAME and not named:
            continue
        replaced = pattern.sub(replacement or _secret, text)
        if replaced != text:
            counts[name] += max(1, replaced.count(f"[masked:{name}]") - text.count(f"[masked:{name}]"))
            text = replaced
    for name, pattern, function in _FUNCTIONS:
        replaced = pattern.sub(function, text)
        if replaced != text:
            counts[name] += replaced.count(f"[masked:{name}]") - text.count(f"[masked:{name}]")
            text = replaced
    return text, counts


def names_secret(label: str) -> bool:
    """Whether a label (a field's title, a key) is the name of a secret and nothing else: "DB password", "*api_key:*"."""
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFKC", label[:200]))
    return _LABEL.match(shown) is not None


def ends_in_name(text: str) -> bool:
    """Whether a text ends in a secret's name and a colon, so that what comes next is the secret."""
    return _ENDS.search(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text[-200:]))) is not None


def mask_value(label: str, value: str) -> str:
    """A value masked, given what it is called: behind a secret's name all of it goes."""
    if names_secret(label) and len(value.strip()) >= 3 and not _DULL_VALUES.match(value.strip()):
        return value if value.strip().startswith("[masked:") else "[masked:secret]"
    return mask(value)[0]


def mask_url(url: str) -> str:
    """A link without user information and without the values of secret parameters; everything else stays, so it works."""
    head, separator, rest = url.partition("://")
    authority, slash, tail = rest.partition("/")
    if separator and "@" in authority:
        authority = "[masked:url_password]@" + authority.rpartition("@")[2]
    whole = f"{head}{separator}{authority}{slash}{tail}"
    whole = _SECRET_PARAM.sub(r"\1[masked:secret]", whole)
    for name, pattern, replacement in _RULES:
        if name not in {"secret", "authorization", "dsn", "url_password"}:
            whole = pattern.sub(replacement, whole)
    return whole
