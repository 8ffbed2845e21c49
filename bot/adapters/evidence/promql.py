"""Small pieces of PromQL: matchers from labels, and a rule's expression without its threshold. Pure.

Must not put a value into a query unescaped, and must not understand more of an expression than it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_COMPARISON = re.compile(r"==|!=|>=|<=|>|<")
_SET = re.compile(r"(?:and|or|unless)\b", re.IGNORECASE)
_BOOL = re.compile(r"^bool\b", re.IGNORECASE)
_OPENS, _CLOSES = "([{", ")]}"
_FLIPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True, slots=True)
class SplitExpression:
    """An expression and the number that it is compared with."""

    left: str
    op: str
    threshold: float

    @property
    def wants_low(self) -> bool:
        """Whether the rule warns of low values."""
        return self.op in {"<", "<="}


def quote_promql(value: str) -> str:
    """Return a string literal. Nothing in it can end the literal or the line."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r") + '"'


def build_matchers(labels: Mapping[str, Sequence[str]]) -> str:
    """Return `name="value"` for each label; one with several values matches any of them, literally."""
    return ",".join(f"{name}{_build_matcher(values)}" for name, values in sorted(labels.items()) if values)


def _build_matcher(values: Sequence[str]) -> str:
    if len(values) == 1:
        return f"={quote_promql(values[0])}"
    return f"=~{quote_promql('|'.join(map(_escape_literal, values)))}"


def _escape_literal(value: str) -> str:
    """Return a regular expression that matches the value and nothing else."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", value)


def _scan_top_level(expression: str) -> Iterator[tuple[int, str]]:
    """Yield each place that is in no bracket, literal or comment, with the rest of the text from there."""
    depth, place = 0, 0
    while place < len(expression):
        char = expression[place]
        if char in "\"'`":
            place = _skip_literal(expression, place)
            continue
        if char == "#":
            end = expression.find("\n", place)
            place = len(expression) if end < 0 else end
            continue
        depth += (char in _OPENS) - (char in _CLOSES)
        if depth == 0 and char not in _CLOSES:
            yield place, expression[place:]
        place += 1


def _skip_literal(expression: str, start: int) -> int:
    mark, place = expression[start], start + 1
    while place < len(expression) and expression[place] != mark:
        place += 2 if expression[place] == "\\" and mark != "`" else 1
    return place + 1


def _strip_brackets(expression: str) -> str:
    """Return the expression without brackets around all of it."""
    expression = expression.strip()
    while expression.startswith("(") and next((p for p, _ in _scan_top_level(expression)), len(expression)) >= len(
        expression
    ):
        expression = expression[1:-1].strip()
    return expression


def split_threshold(expression: str) -> SplitExpression | None:
    """Return the expression without the number that it is compared with at its top, None where it is no such
    comparison."""
    text = _strip_brackets(expression)
    last: tuple[int, str] | None = None
    skip_until, word_before = 0, False
    for place, rest in _scan_top_level(text):
        if place >= skip_until:
            if not word_before and _SET.match(rest):
                return None
            if found := _COMPARISON.match(rest):
                last, skip_until = (place, found[0]), place + len(found[0])
        word_before = rest[0].isalnum() or rest[0] in "_:"
    if last is None:
        return None
    place, op = last
    left, right = text[:place].strip(), _BOOL.sub("", text[place + len(op) :].strip()).strip()
    return _build_split(left, op, right)


def _build_split(left: str, op: str, right: str) -> SplitExpression | None:
    if _NUMBER.fullmatch(right) and left:
        return SplitExpression(left, op, float(right.replace("_", "")))
    if _NUMBER.fullmatch(left) and right:
        return SplitExpression(right, _FLIPPED.get(op, op), float(left.replace("_", "")))
    return None
