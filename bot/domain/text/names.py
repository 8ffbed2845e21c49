"""Compare names and find content words: what a check, a root cause and a label have in common."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.domain.text.tokens import normalize

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Words that say that something was looked at, not what: they may not decide whether a check was the cause.
_STOP_WORDS = """
a an and are as at be been by check checked checking checks debug debugged debugging did examined for from had has in
inspect inspected inspecting into investigate investigated is it its look looked looking no not of off on or our out
review reviewed so some that the their them then there they this to too up verified verify was we were what which while
with"""
_STOP = frozenset(_STOP_WORDS.split())
# Short names that are written as often as the long ones.
_LONG = {
    "conn": "connection",
    "config": "configuration",
    "db": "database",
    "dbs": "database",
    "k8s": "kubernetes",
    "lb": "balancer",
    "svc": "service",
}
_PREPOSITION = re.compile(r"\b(?:after|at|before|between|by|during|for|from|in|of|on|to|under|with)\b", re.IGNORECASE)
_SAME_ENVIRONMENT = {
    "prod": "production",
    "prd": "production",
    "live": "production",
    "stg": "staging",
    "stage": "staging",
    "dev": "development",
}


def normalize_name(name: str | None) -> str | None:
    """Return the form in which names (vendor, service, region) are compared; None for unknown or empty."""
    return _fold_name(name) if name else None


@lru_cache(maxsize=8192)
def _fold_name(name: str) -> str | None:
    return normalize(name) or None


def normalize_environment(name: str | None) -> str | None:
    """Normalize a name and expand the short names of environments ("prod" is "production")."""
    form = normalize_name(name)
    return _SAME_ENVIRONMENT.get(form, form) if form else None


@lru_cache(maxsize=8192)
def normalize_title(title: str | None) -> str | None:
    """Return the form in which alert names are compared: letters and digits only ("Error Rate" is "ErrorRate")."""
    return "".join(_WORD.findall(normalize(title))) or None if title else None


def split_name(name: str) -> str:
    """Return a name with its camelCase and snake_case parts separated: "Razorpay Error Rate"."""
    return _CAMEL.sub(" ", name.replace("_", " "))


def _singularize(word: str) -> str:
    """Return a word without its final "s" if that is likely a plural ("pods", not "status", "redis", "access")."""
    plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural else word


def find_content_words(text: str) -> frozenset[str]:
    """Return the words that say what a text is about: singular, short names expanded ("db" is "database")."""
    return frozenset(_split_content(text))


def find_head_word(name: str) -> str | None:
    """Return the last content word before a preposition ("DB pool" is a pool, "Size of the queue" a size); None if
    there is none."""
    words = _split_content(_PREPOSITION.split(name, maxsplit=1)[0])
    return words[-1] if words else None


def _split_content(text: str) -> list[str]:
    words = (w for w in _WORD.findall(split_name(text).casefold()) if w not in _STOP)
    return [_LONG.get(w) or _singularize(w) for w in words]
