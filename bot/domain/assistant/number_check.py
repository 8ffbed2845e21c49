"""Find the figures of a text and whether other texts contain them: this tells a quoted number from an invented one.

A figure is a number with its unit ("840 ms", "18.2 %", "48,201"), a date or time of day, a name with digits in it
("ap-south-1", "v4.19.0"), or a number in words. A value occurs if the other text has it with the same unit, or one
side has no unit, or the other text has the unit in a name ("latency_ms=840"). So 18.2 is 18.20 and 48,201 is 48201,
but 18 is not 18.2 and 840 ms is not 840 %. Nothing is converted or rounded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

_UNIT_WORDS = """
ms: ms msec msecs millisecond milliseconds
s: s sec secs second seconds
min: m min mins minute minutes
h: h hr hrs hour hours
day: d day days
week: w week weeks
month: month months
year: y year years
%: % percent pct
x: x × times
kb: kb kilobyte kilobytes
mb: mb megabyte megabytes
gb: gb gigabyte gigabytes
tb: tb terabyte terabytes
kib: kib
mib: mib
gib: gib
rps: rps qps
"""
_UNITS = {
    w: line.partition(":")[0] for line in _UNIT_WORDS.strip().splitlines() for w in line.partition(":")[2].split()
}
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: number for number, word in enumerate(_SMALL.split())}
_WORDS |= {word: 10 * number for number, word in enumerate(_TENS.split(), 2)}
_WORDS |= {"hundred": 100, "thousand": 1000, "million": 10**6}
# Words that imply a number: they must occur as the same word.
_SHARES = frozenset(
    [
        "half",
        "halves",
        "halved",
        "halving",
        "twice",
        "thrice",
        "double",
        "doubled",
        "doubles",
        "doubling",
        "triple",
        "tripled",
        "triples",
        "tripling",
        "quadruple",
        "quadrupled",
        "quadruples",
        "quadrupling",
        "quintupled",
        "couple",
        "tens",
        "dozen",
        "dozens",
        "score",
        "quarter",
        "quarters",
        "majority",
        "magnitude",
        "hundreds",
        "thousands",
        "millions",
        "billion",
        "billions",
        "thirds",
        "fourths",
        "fifths",
        "sixths",
        "sevenths",
        "eighths",
        "ninths",
        "tenths",
        "hundredths",
        "thousandths",
    ]
)
# A share only in "a third of"; "the third pod" is none.
_PARTS = frozenset(
    ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "hundredth", "thousandth"]
)
_SCALES = frozenset(["hundred", "thousand", "million"])
_ROMAN = frozenset(
    ["ii", "iii", "vii", "viii", "ix", "xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx", "xxx"]
)
# "which of the two is first" counts nothing.
_VERBS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "would",
        "could",
        "may",
        "might",
        "can",
        "came",
        "should",
        "has",
        "have",
        "had",
        "comes",
        "will",
    ]
)
_MONTHS = "january february april june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_NAMED_TIMES = frozenset(f"{_MONTHS} {_DAYS} yesterday noon midnight".split())
# Names with a digit that are not numbers; "one" is rarely a number in a sentence ("one of the pods").
_NO_FIGURES = frozenset(
    [
        "one",
        "k8s",
        "s3",
        "ec2",
        "ipv4",
        "ipv6",
        "oauth2",
        "http2",
        "http/2",
        "utf8",
        "utf-8",
        "x509",
        "p50",
        "p90",
        "p95",
        "p99",
        "4xx",
        "5xx",
        "4xxs",
        "5xxs",
    ]
)
# "504s" may be seconds, or several of that code.
PLURAL = "s?"
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_TOKEN = re.compile(r"[\w.,:/%×+#-]+|\S")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?:t[\d:.]+z?)?$|\d{1,2}:\d{2}(?::\d{2})?z?$")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)$")
_GLUED = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?)([a-z%×]+)$")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure in the form in which it is compared."""

    said: str  # as written in the text
    value: Decimal | None = None  # for numbers
    unit: str | None = None  # for numbers
    name: str | None = None  # for everything that must agree to the letter


_Values = dict[Decimal, set[str | None]]


def _parse_value(written: str) -> Decimal | None:
    """Return the value of a number; None for one that no rule reads ("1,2,3")."""
    bare = written.lstrip("+-")
    if "," in bare and not _GROUPED.match(bare):
        whole, _, part = bare.partition(",")
        if "," in part or "." in part:
            return None
        return Decimal(f"{whole}.{part}") if part else Decimal(whole)
    return Decimal(bare.replace(",", ""))


def _split_tokens(text: str) -> list[str]:
    return [t for t in (raw.strip(".,:#+-/") for raw in _TOKEN.findall(text.casefold())) if t]


def _has_number(char: str) -> bool:
    return char.isdigit() or (not char.isascii() and unicodedata.numeric(char, None) is not None)


def _read_digits(token: str, after: str) -> Figure:
    """Read a token that contains a digit; `after` is the next token, which may be its unit."""
    if _DATE.match(token):
        return Figure(token, name=token.removesuffix("z").lstrip("0"))
    if ordinal := _ORDINAL.match(token):
        return Figure(token, Decimal(ordinal[1]))
    if _NUMBER.fullmatch(token) and (value := _parse_value(token)) is not None:
        unit = _UNITS.get(after)
        return Figure(f"{token} {after}" if unit else token, value, unit)
    glued = _GLUED.match(token)
    if glued and glued[2] in _UNITS and (value := _parse_value(glued[1])) is not None:
        return Figure(token, value, PLURAL if glued[2] == "s" else _UNITS[glued[2]])
    return Figure(token, name=token)


def _read_words(token: str, before: str, after: str) -> Figure | None:
    """Read a number in words, a share, or the name of a day or month; None for any other word."""
    parts = token.split("-")
    if token in ("two", "three") and before in ("the", "these", "those") and (not after or after in _VERBS):
        return None
    if all(part in _WORDS for part in parts) and not (token in _SCALES and before not in _WORDS):
        unit = _UNITS.get(after)
        return Figure(f"{token} {after}" if unit else token, Decimal(sum(_WORDS[part] for part in parts)), unit)
    is_share = token in _SHARES or token in _SCALES or token in _ROMAN or not _SHARES.isdisjoint(parts)
    is_part = parts[-1] in _PARTS and (parts[0] in _WORDS or (before in {"a", "one"} and after == "of"))
    is_fold = token.endswith("fold") and token.removesuffix("fold").strip("-") in _WORDS
    if is_share or is_part or is_fold or token in _NAMED_TIMES:
        return Figure(token, name=token)
    return None


def read_figures(text: str) -> Iterator[Figure]:
    """Yield the figures of a text in their order."""
    tokens = _split_tokens(text)
    for place, token in enumerate(tokens):
        if token in _NO_FIGURES:
            continue
        before = tokens[place - 1] if place else ""
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if any(map(_has_number, token)):
            yield _read_digits(token, after)
        elif found := _read_words(token, before, after):
            yield found


def _is_supported(figure: Figure, others: _Values, names: frozenset[str], units: frozenset[str]) -> bool:
    if figure.value is None:
        return figure.name in names
    there = others.get(figure.value, set())
    if figure.unit is None:
        return bool(there)
    if figure.unit == PLURAL:
        return not there.isdisjoint({None, "s", PLURAL})
    same = {figure.unit, PLURAL if figure.unit == "s" else figure.unit}
    return not there.isdisjoint(same) or (None in there and figure.unit in units)


def _split_names(text: str) -> frozenset[str]:
    """Return every token and its parts: "http_504=88" contains 504 and 88."""
    tokens = _split_tokens(text)
    parts = {p for token in tokens for p in re.split(r"[_/:=,+-]", token) if p}
    return frozenset(
        {*tokens, *parts, *(part for token in tokens if _DATE.match(token) for part in _expand_moment(token))}
    )


def _expand_moment(token: str) -> Iterator[str]:
    """Yield the forms in which a date with a time may be quoted: whole, date, time, time without seconds."""
    date, _, time = token.removesuffix("z").partition("t")
    for part in (date, time, date[:-3] if date.count(":") == 2 else "", time[:5]):
        yield part.lstrip("0")
    yield token.removesuffix("z").lstrip("0")


def _collect_values(text: str) -> _Values:
    """Return the values of a text, also those inside names, each with the units it has there."""
    parts = (token for token in _split_tokens(text) if not _DATE.match(token))
    found: _Values = {}
    for figure in (*read_figures(text), *read_figures(re.sub(r"[_/:=]", " ", " ".join(parts)))):
        if figure.value is not None:
            found.setdefault(figure.value, set()).add(figure.unit)
    return found


def _find_units(text: str) -> frozenset[str]:
    """Return the units that are parts of names ("latency_ms", "percent=")."""
    parts = {part for token in _split_tokens(text) if "_" in token or "=" in token for part in re.split(r"[_=]", token)}
    return frozenset(_UNITS[part] for part in parts if part in _UNITS)


def find_unsupported_figures(text: str, sources: Iterable[str]) -> tuple[str, ...]:
    """Return the figures of a text that none of the sources contains, as written."""
    source_text = "\n".join(sources)
    others, names, units = _collect_values(source_text), _split_names(source_text), _find_units(source_text)
    return tuple(
        dict.fromkeys(figure.said for figure in read_figures(text) if not _is_supported(figure, others, names, units))
    )
