"""Show what the bot would have said to a channel's last alerts, in a modal that reads on a phone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.brief.recommendation import Confidence
from bot.domain.operations.preview import Preview, PreviewedAnswer, PreviewOutcome, RecurringAlert
from bot.slack.views.brief.layout import render_brief
from bot.slack.views.brief.sections import join_parts
from bot.slack.views.forms import View, build_info_view
from bot.slack.views.markup import Block, context, format_date, prose, section

TITLE = "Preview"
READING = "Reading what was posted here… Nothing is stored or posted, and only you see the answer."
ONLY_YOU = "Only you see this. Nothing was stored or posted, and nothing is open because of it."
NONE = "None of the last {} messages here was read as an alert."
MISREAD = "If alerts are among these, tell whoever runs me: I do not read that app yet."
WORDS: Mapping[PreviewOutcome, str] = {
    PreviewOutcome.FIX: "a brief with what fixed it",
    PreviewOutcome.UNKNOWN: "a brief that says what to collect, for memory knows nothing of it yet",
    PreviewOutcome.REACTION: "a reaction only: a warning that memory knows nothing of",
    PreviewOutcome.SILENCE: "nothing",
}
SHORT: Mapping[PreviewOutcome, str] = {
    PreviewOutcome.FIX: "fix known",
    PreviewOutcome.UNKNOWN: "nothing known yet",
    PreviewOutcome.REACTION: "reaction only",
    PreviewOutcome.SILENCE: "silent",
}
ROWS = 8


def build_preview_view(found: Preview | str) -> View:
    """Return the preview, or why there is none."""
    return build_info_view(TITLE, [section(prose(found, 600))] if isinstance(found, str) else _render_blocks(found))


def _render_blocks(found: Preview) -> list[Block]:
    if not found.alerts:
        return [section(NONE.format(found.messages)), *_render_unread(found.unread), context(ONLY_YOU)]
    blocks = [section("\n".join([_format_head(found), *_format_answers(found)]))]
    blocks.append(context(f"Read as alerts: {_format_counts(found.tools)}"))
    if found.recurring:
        more = [f"+{len(found.recurring) - ROWS} more"] if len(found.recurring) > ROWS else []
        rows = [_format_row(one) for one in found.recurring[:ROWS]]
        blocks.append(section("\n".join(["*What comes back*", *rows, *more])))
    blocks += _render_unread(found.unread)
    blocks += _render_example(found.example)
    return [*blocks, context(ONLY_YOU)]


def _format_head(found: Preview) -> str:
    text = f"since {format_date(found.since)}, {_format_count(found.families, 'different one')}"
    return f"*The last {_format_count(found.alerts, 'alert post')} here* ({text}) made {_format_count(found.incidents, 'incident')}. With memory as it is now I would have answered with"


def _format_answers(found: Preview) -> list[str]:
    return [
        join_parts((f"• *{found.answers[answer]}×* {WORDS[answer]}{_format_why(found, answer)}",))
        for answer in PreviewOutcome
        if found.answers.get(answer)
    ]


def _format_why(found: Preview, answer: PreviewOutcome) -> str:
    if answer is PreviewOutcome.FIX and found.confidence:
        return f" ({', '.join(f'{found.confidence[c]} {c}' for c in Confidence if found.confidence.get(c))})"
    if answer is PreviewOutcome.SILENCE:
        return f": {'; '.join(prose(why, 150) for why in list(found.silent)[:3])}"
    return ""


def _format_row(one: RecurringAlert) -> str:
    return join_parts(
        (
            f"• *{one.fired}×* {prose(one.title, 80)}",
            prose(one.service, 40) if one.service else None,
            SHORT[one.answer],
        )
    )


def _render_unread(unread: Mapping[str, int]) -> list[Block]:
    if not unread:
        return []
    return [section(f"*Posted by apps and not read as alerts*\n{_format_counts(unread)}"), context(MISREAD)]


def _render_example(one: PreviewedAnswer | None) -> list[Block]:
    """Return a brief as the thread would have shown it, without its buttons: there is no incident to act on."""
    if one is None or one.brief is None:
        return []
    shown = render_brief(replace(one.brief, incident=None)).blocks
    would = (
        "This is what I would have said" if one.answer is not PreviewOutcome.REACTION else "Asked for more, I would say"
    )
    head = section(f"*For example, on {format_date(one.opened.life.opened_at)}.* {would}:")
    return [{"type": "divider"}, head, *(block for block in shown if block["type"] != "actions"), {"type": "divider"}]


def _format_counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    text = ", ".join(f"{prose(name, 40)} {count}" for name, count in ordered[:ROWS])
    return f"{text}, +{len(ordered) - ROWS} more" if len(ordered) > ROWS else text


def _format_count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
