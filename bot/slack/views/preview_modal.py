"""What the bot would have said to a channel's last alerts, as a modal that reads on a phone. Pure.

Must not say anything that the preview does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.brief.recommendation import Confidence
from bot.domain.operations.preview import Answer, Preview, Recurring, Would
from bot.slack.views.brief.layout import brief_message
from bot.slack.views.brief.sections import joined
from bot.slack.views.correction_modals import closing
from bot.slack.views.forms import View
from bot.slack.views.markup import Block, context, day, prose, section

TITLE = "Preview"
READING = "Reading what was posted here… Nothing is stored or posted, and only you see the answer."
ONLY_YOU = "Only you see this. Nothing was stored or posted, and nothing is open because of it."
NONE = "None of the last {} messages here was read as an alert."
MISREAD = "If alerts are among these, tell whoever runs me: I do not read that app yet."
WORDS: Mapping[Answer, str] = {
    Answer.FIX: "a brief with what fixed it",
    Answer.UNKNOWN: "a brief that says what to collect, for memory knows nothing of it yet",
    Answer.REACTION: "a reaction only: a warning that memory knows nothing of",
    Answer.SILENCE: "nothing",
}
SHORT: Mapping[Answer, str] = {
    Answer.FIX: "fix known",
    Answer.UNKNOWN: "nothing known yet",
    Answer.REACTION: "reaction only",
    Answer.SILENCE: "silent",
}
ROWS = 8


def preview_view(found: Preview | str) -> View:
    """The preview, or why there is none."""
    return closing(TITLE, [section(prose(found, 600))] if isinstance(found, str) else _blocks(found))


def _blocks(found: Preview) -> list[Block]:
    if not found.alerts:
        return [section(NONE.format(found.messages)), *_unread(found.unread), context(ONLY_YOU)]
    blocks = [section("\n".join([_head(found), *_answers(found)]))]
    blocks.append(context(f"Read as alerts: {_counted(found.tools)}"))
    if found.recurring:
        more = [f"+{len(found.recurring) - ROWS} more"] if len(found.recurring) > ROWS else []
        rows = [_row(one) for one in found.recurring[:ROWS]]
        blocks.append(section("\n".join(["*What comes back*", *rows, *more])))
    blocks += _unread(found.unread)
    blocks += _example(found.example)
    return [*blocks, context(ONLY_YOU)]


def _head(found: Preview) -> str:
    told = f"since {day(found.since)}, {_many(found.families, 'different one')}"
    return f"*The last {_many(found.alerts, 'alert post')} here* ({told}) made {_many(found.incidents, 'incident')}. With memory as it is now I would have answered with"


def _answers(found: Preview) -> list[str]:
    return [
        joined((f"• *{found.answers[answer]}×* {WORDS[answer]}{_why(found, answer)}",))
        for answer in Answer
        if found.answers.get(answer)
    ]


def _why(found: Preview, answer: Answer) -> str:
    if answer is Answer.FIX and found.confidence:
        return f" ({', '.join(f'{found.confidence[c]} {c}' for c in Confidence if found.confidence.get(c))})"
    if answer is Answer.SILENCE:
        return f": {'; '.join(prose(why, 150) for why in list(found.silent)[:3])}"
    return ""


def _row(one: Recurring) -> str:
    return joined(
        (
            f"• *{one.fired}×* {prose(one.title, 80)}",
            prose(one.service, 40) if one.service else None,
            SHORT[one.answer],
        )
    )


def _unread(unread: Mapping[str, int]) -> list[Block]:
    if not unread:
        return []
    return [section(f"*Posted by apps and not read as alerts*\n{_counted(unread)}"), context(MISREAD)]


def _example(one: Would | None) -> list[Block]:
    """A brief as the thread would have shown it, without its buttons: there is nothing to act on."""
    if one is None or one.brief is None:
        return []
    shown = brief_message(replace(one.brief, incident=None)).blocks
    would = "This is what I would have said" if one.answer is not Answer.REACTION else "Asked for more, I would say"
    head = section(f"*For example, on {day(one.opened.life.opened_at)}.* {would}:")
    return [{"type": "divider"}, head, *(block for block in shown if block["type"] != "actions"), {"type": "divider"}]


def _counted(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    told = ", ".join(f"{prose(name, 40)} {count}" for name, count in ordered[:ROWS])
    return f"{told}, +{len(ordered) - ROWS} more" if len(ordered) > ROWS else told


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
