"""A write-up in Markdown (or Jira's markup) taken apart: its title, the facts at its head, and the text under each
heading.

Must not make a record of it: the readers do. Text under unknown headings is returned as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.records.importers.coerce import drop_placeholder, split_list
from bot.records.importers.column_names import find_field

_ATX = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})\s*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_WIKI_HEADING = re.compile(r"^h([1-6])\.\s+", re.MULTILINE)
_WIKI_NUMBER = re.compile(r"^#+\s+", re.MULTILINE)
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)([^*_]{2,60}?):?(?:\*\*|__):?\s*$")
_PLAIN_LINE = re.compile(r"([A-Z][\w' ]{2,40}):\s*(.*)$")
_FACT = re.compile(
    r"\s*(?:[-*+•]\s+)?\|?\s*[*_]{0,2}([A-Za-z][\w /()'-]{0,40}?)[*_]{0,2}\s*[:|]\s*[*_]{0,2}\s*(\S.*?)\s*\|?\s*$"
)
_EMPHASIS = re.compile(r"\*\*|(?<!\w)__|__(?!\w)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>#|~])")
_NUMBERING = re.compile(r"^[\W_\d]+(?=[^\W\d_])")
_MARKED = re.compile(r"^( *)(?:[-*+•]|\d{1,3}[.)])\s+")
_FRONT = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
# What a section is about, by its heading; the first that matches. Two sections of one kind go together.
KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?:{pattern})", re.IGNORECASE))
    for kind, pattern in (
        ("root_cause", r"(?:the )?(?:(?:root|underlying|probable|actual|technical) )?causes?(?: analysis)?|rca|why (?:did )?(?:it|this) happen(?:ed)?|contributing (?:factors?|causes?)|root causes? .*"),
        ("failed_fix", r"what (?:did not|didn.?t) (?:work|help)|failed (?:attempts?|fix(?:es)?)|(?:attempts?|fix(?:es)?) that (?:failed|did not work)|did not work"),
        ("failed_checks", r"(?:checks )?that turned out not to be the cause|checks that turned out not to be the cause|(?:what was )?not the cause|ruled out|red herrings?|dead ends?|what wasted time"),
        ("fix", r"resolution(?: (?:and recovery|steps))?|(?:immediate )?remediation(?: steps)?|mitigation(?: steps)?|fix(?:es)?|the fix|recovery|how (?:we|it was|was it) (?:fixed|resolved|mitigated)|what fixed it|solution|workaround|(?:actions|steps) taken"),
        ("customer_impact", r"(?:customer |user |business )?impact.*"),
        ("symptoms", r"symptoms?|what was seen|detection|how (?:was it|we) (?:detected|noticed)(?: it)?"),
        ("lesson", r"lessons?(?: learn(?:ed|t))?|what (?:went|did)(?: not)?(?: go)? (?:wrong|well|badly)|where we got lucky|learnings|takeaways"),
        ("summary", r"(?:executive |incident )?summary|overview|what happened|description|tl;?dr|abstract"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WriteUp:
    """A text taken apart."""

    title: str | None = None
    # native fields named at its head, as written
    facts: Mapping[str, str] = field(default_factory=dict)
    # kind of section (see `KINDS`) → its text
    parts: Mapping[str, str] = field(default_factory=dict)
    rest: Mapping[str, str] = field(default_factory=dict)  # other headings → their text
    opening: str | None = None  # what comes before the first heading


@dataclass(slots=True)
class _WriteUpSection:
    level: int
    heading: str
    lines: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str | None:
        said = _ESCAPED.sub(r"\1", _NUMBERING.sub("", self.heading)).replace("(s)", "s").rstrip(": ").strip()
        return next((kind for kind, pattern in KINDS if pattern.fullmatch(said)), None)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


def read_write_up(text: str) -> WriteUp:
    """Return the parts of a Markdown text; linear in its length."""
    front, text = _read_front_matter(_COMMENT.sub("", text))
    sections = list(_join_untitled(_split_sections(text)))
    heads = [s for s in sections if s.kind in {None, "summary"} and s.level <= 1] + [
        s for s in sections if s.kind == "summary"
    ]
    facts = {k: v for s in reversed(heads) for k, v in _read_facts(s.lines)} | front
    parts: dict[str, str] = {}
    rest: dict[str, str] = {}
    for section in sections:
        said = drop_placeholder(_clean_text(section.text))
        if said is None or section.level == 0 or (section.level == 1 and section.kind is None):
            continue
        into, key = (parts, section.kind) if section.kind else (rest, section.heading[:100])
        into[key] = f"{into[key]}\n{said}" if key in into else said
    title = next((s.heading for s in sections if s.level == 1), None)
    before = (line for s in sections if s.level <= 1 and s.kind is None for line in s.lines)
    opening = drop_placeholder(_clean_text("\n".join(line for line in before if not dict(_read_facts([line])))))
    return WriteUp(drop_placeholder(_clean_text(title)) if title else None, facts, parts, rest, opening)


def convert_wiki(text: str) -> str:
    """Return Jira's markup with its headings and numbered lists as Markdown has them; other text as it is."""
    if not _WIKI_HEADING.search(text):
        return text
    return _WIKI_HEADING.sub(lambda m: "#" * int(m[1]) + " ", _WIKI_NUMBER.sub("1. ", text))


def convert_labels_to_headings(text: str) -> str:
    """Return a note of lines such as "Root cause: …" with a heading for each; other lines as they are."""
    lines: list[str] = []
    for line in text.split("\n"):
        label = _PLAIN_LINE.fullmatch(line.strip().replace("*", ""))
        is_kind = label and _WriteUpSection(2, label[1]).kind
        lines += [f"## {label[1]}", label[2]] if label and is_kind else [line]
    return "\n".join(lines)


def format_steps(text: str | None) -> str | None:
    """Return a fix as it is stored: the entries of a list one a line, without marks; other text unchanged."""
    if text is None:
        return None
    lines = [line for line in text.split("\n") if line.strip()]
    marked = [line for line in lines if _MARKED.match(line)]
    if not marked or len(lines) == 1:
        return drop_placeholder(_MARKED.sub("", text.strip()))
    return "\n".join(_MARKED.sub("", line).strip() for line in lines)


def read_checks(text: str | None) -> list[str]:
    """Return the entries of a section."""
    return split_list(text) if text else []


def _read_front_matter(text: str) -> tuple[dict[str, str], str]:
    found = _FRONT.match(text)
    if not found:
        return {}, text
    return dict(_read_facts(found[1].split("\n"))), text[found.end() :]


def _read_facts(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        fact = _FACT.match(line) if len(line) <= 1000 else None
        name = find_field(fact[1]) if fact else None
        if fact and name and (said := drop_placeholder(_clean_text(fact[2]).strip("\"'"))):
            yield name, said


def _split_sections(text: str) -> Iterator[_WriteUpSection]:
    """Yield every heading with the lines under it; level 0 for what comes before the first."""
    section, fenced = _WriteUpSection(0, ""), False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        level, heading = (0, "") if fenced else _read_heading(line, section.lines)
        if not level:
            section.lines.append(line)
            continue
        if _UNDERLINE.match(line):
            section.lines.pop()
        yield section
        section = _WriteUpSection(level, heading)
    yield section


def _read_heading(line: str, before: list[str]) -> tuple[int, str]:
    if atx := _ATX.match(line):
        return len(atx[1]), atx[2]
    under = _UNDERLINE.match(line)
    if (
        under
        and before
        and before[-1].strip()
        and not _MARKED.match(before[-1])
        and (len(before) == 1 or not before[-2].strip())
    ):
        return (1 if under[1][0] == "=" else 2), before[-1].strip()
    if (bold := _BOLD_LINE.match(line)) and _WriteUpSection(6, bold[1]).kind:
        return 6, bold[1]
    return 0, ""


def _join_untitled(sections: Iterator[_WriteUpSection]) -> Iterator[_WriteUpSection]:
    """Join headings of no kind to the text of the heading above them that has a kind."""
    parent: _WriteUpSection | None = None
    for section in sections:
        if parent and parent.level >= 2 and section.level > parent.level and (section.kind is None):
            parent.lines += ["", f"{section.heading}:", *section.lines]
            continue
        if parent:
            yield parent
        parent = section
    if parent:
        yield parent


def _clean_text(text: str) -> str:
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", text)).strip()
