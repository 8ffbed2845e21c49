"""Find signs of a problem in text: error codes and metric names, in the one form in which they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.domain.text.tokens import normalize

# One code, several spellings. The value is the form that is compared.
_SAME_CODE: Mapping[str, str] = {
    "bad_gateway": "502",
    "service_unavailable": "503",
    "gateway_timeout": "504",
    "gateway_time_out": "504",
    "too_many_requests": "429",
    "rate_limited": "429",
    "rate_limit_exceeded": "429",
    "internal_server_error": "500",
    "unauthorized": "401",
    "forbidden": "403",
    "oomkilled": "oom",
    "out_of_memory": "oom",
    "outofmemory": "oom",
    "outofmemoryerror": "oom",
    "etimedout": "timeout",
    "econnrefused": "connection refused",
    "econnreset": "connection reset",
    "enospc": "no space left",
}

# Words that people write where a tool writes the code; a wider list of synonyms was measured to add nothing.
CODE_WORDS: Mapping[str, str] = {
    "401": "unauthorized",
    "403": "forbidden",
    "408": "timeout",
    "429": "rate limit",
    "500": "internal server error",
    "502": "bad gateway",
    "503": "unavailable",
    "504": "timeout",
    "oom": "out of memory",
    "crashloopbackoff": "crash loop",
    "deadline_exceeded": "timeout",
}

_HTTP = re.compile(
    r"(?<![\w.,:/$-])(?:HTTP[ /_-]?)?(4(?:0[0-9]|1[0-8]|2[2-9]|31|51|99)|5(?:0[0-8]|11|2[0-7]|30))"
    r"(?![\w:/%-]|[.,]\d|\s?(?:ms|s|m|h|sec|seconds?|mins?|minutes?|hours?|[kmgt]i?b|bytes|times|requests?|users?|rows)\b)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_UPPER_CODE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\bE[A-Z]{5,}\b")
_NAMED_ERROR = re.compile(r"\b(?:OOMKilled|OOM|CrashLoopBackOff|ImagePullBackOff|[A-Z]\w+(?:Error|Exception))\b")
_METRIC = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|\b[a-z][a-z0-9]+(?:\.[a-z0-9_]{2,}){2,}\b")


def normalize_code(code: str) -> str:
    """Return the form in which an error code is compared: "HTTP 504" and "GATEWAY_TIMEOUT" are both "504"."""
    form = normalize(code)
    http = _HTTP.search(form)
    return http[1] if http else _SAME_CODE.get(form.replace(" ", "_").replace("-", "_"), form)


def find_codes(text: str) -> frozenset[str]:
    """Return the error codes in a text, in compared form. A number with a unit is no code."""
    found = [m[1] for m in _HTTP.finditer(text)]
    found += _UPPER_CODE.findall(text) + _NAMED_ERROR.findall(text)
    return frozenset(normalize_code(code) for code in found)


def find_metric_names(text: str) -> frozenset[str]:
    """Return the metric names in a text: snake_case, or dotted with at least three parts."""
    return frozenset(_METRIC.findall(text))


def choose_telling_names(names: Iterable[str | None]) -> frozenset[str]:
    """Return metric names in compared form, without single words ("errors", "cpu"): everything measures those."""
    forms = (normalize(name) for name in names if name)
    return frozenset(form for form in forms if len(_WORD.findall(form)) > 1)


def list_code_words(codes: Iterable[str]) -> tuple[str, ...]:
    """Return what people write for these codes, sorted by code."""
    return tuple(CODE_WORDS[code] for code in sorted(codes) if code in CODE_WORDS)
