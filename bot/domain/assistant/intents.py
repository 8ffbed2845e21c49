"""Recognize what a person asks in an incident's thread, by rules and without a model.

A question is data: it selects one of our answers, and none of its words ever returns in one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from bot.domain.delivery.ids import build_talk_id, split_talk_id

MOST_QUESTION = 600
# A longer question contains more than the rule that it happens to match, so a model is asked first if one is allowed.
SURE_WORDS = 14
PERSON_A_MINUTE, CHANNEL_AN_HOUR = 6, 20
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
# How long a person may take to answer a question of the bot.
ANSWERS_WITHIN = timedelta(minutes=10)
# The kinds of answers: a statement, a question back, the notice of a limit.
SAYS, ASKS, LIMITED = "say", "ask", "limit"


class Intent(StrEnum):
    """What is asked for. All but UNKNOWN are answered from the record; THANKS gets no answer."""

    HELP = "help"
    THANKS = "thanks"
    COMPARE = "compare"
    STATUS = "status_update"
    RECORD = "record"
    DO = "do"
    BEFORE = "before"
    FAILED = "did_not_work"
    SKIP = "skip"
    CAUSE = "cause"
    FIXED = "fixed_last_time"
    TRIED = "tried_now"
    SURE = "how_sure"
    SIDE = "us_or_vendor"
    CHANGED = "changed"
    SOURCES = "incidents"
    SEEN = "seen_now"
    NEXT = "next_step"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as understood."""

    intent: Intent
    sure: bool = True  # the rule covers all of the question


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: sentences, then a list, or a draft to copy."""

    sentences: tuple[str, ...]
    items: tuple[str, ...] = ()
    draft: str | None = None
    cites: tuple[str, ...] = ()  # the past incidents that support it
    asks: bool = False  # it ends with a question, which the person may answer without naming the bot
    numbered: bool = False  # the list is steps in order
    more: int = 0  # steps that did not fit


class ReplyTurn(StrEnum):
    """What a message gets."""

    ANSWER = "answer"
    TOLD = "told"  # that there were too many, once
    SILENCE = "silence"


_ACTING = (
    "restart|reboot|roll ?back|rollback|revert|deploy|redeploy|fail ?over|failover|scale|kill|drain|page|call|silence|mute|run|execute|"
    "delete|drop|truncate|send|post|invite|open|close|create|disable|enable|merge|purge|flush|terminate|curl"
)
_PEOPLE = "customers?|clients?|stakeholders?|management|managers?|users|merchants?|boss|ceo|cto|exec(?:utive)?s?|support|everyone|leadership"
# In this order: the first rule that holds. Words are in lower case, without apostrophes or punctuation.
RULES: tuple[tuple[Intent, str], ...] = (
    (Intent.HELP, r"^(?:(?:hi|hey|hello|yo|help|usage|commands?|start|bot|precedent|there|you|up|sup|ping|test)\s?)*$"),
    (Intent.HELP, r"what (?:can|do|could) you (?:do|answer|know|tell)|how do (?:i|we) use (?:you|this)|who are you|what are you$"),
    (Intent.THANKS, r"^(?:ok |okay |great |cool |many |perfect )*(?:thanks|thank you|thx|ty|cheers|ok|okay|great|nice|perfect|cool|got it|noted|lgtm|good bot|good job|well done)(?: (?:you|so|very|much|a|lot|for|that|this|it|bot|precedent|mate|all|team|the|help|again|thanks|thank|then))*$"),
    (Intent.COMPARE, r"\bcompare\b|\bcomparison\b|with and without memory|without memory"),
    (Intent.STATUS, rf"(?:status|stakeholder|incident|statuspage|customer|exec\w*|management) (?:page )?(?:updates?|message|summary|report|note|post|comms?)\b|\b(?:tell|inform|update) (?:the |our |my )?(?:{_PEOPLE})\b|\b(?:update|message|note|summary|mail|wording|comms?) (?:for|to) (?:the |our |my )?(?:{_PEOPLE}|status ?page)\b"),
    (Intent.STATUS, r"^(?:write|draft|prepare|compose|give|make|need)\b.*\b(?:status|update|summary|statement|comms?)\b|\bsummari[sz]e\b|\bsummary\b|\btl ?dr\b"),
    (Intent.RECORD, r"^(?:record|save|remember|note|log) (?:this|that|it|the)\b|^(?!(?:what|who|when|how|did|has|have|which|was|is)\b).*\b(?:fixed|solved|resolved) (?:it|this|the issue|the problem)(?: for (?:us|me|good))?(?: now)?$|how (?:do|can) (?:i|we) record"),
    (Intent.DO, rf"^(?:(?:can|could|will|would) you (?:just )?|go (?:ahead )?(?:and )?|lets |now |just |you (?:should|must|need to) )?(?:{_ACTING})\b"),
    (Intent.BEFORE, r"\bhappen(?:s|ed|ing)? (?:before|again|often|already|a lot|every|last|in the past)|\b(?:seen|had|have|see|know|met) (?:this|it|that|one)\b.*\b(?:before|already|earlier|past|previously)\b|\bbefore$|\bhow (?:often|many times|frequent\w*|common)\b|\bfirst time\b|\brecur\w*|\bis (?:this|it) (?:new|known|recurring|common|a known|a repeat|a regular)|\bwhen did (?:this|it|that) (?:last )?happen|\bhistory\b|\bhow many (?:outages|incidents)\b|\blast (?:seen|happened|occurred)\b"),
    (Intent.FAILED, r"\b(?:did|does|has|have|had|do) ?nt (?:work|help|fix)|\b(?:did|does|has|have|had|do) not (?:work|help|fix)|\bnot work(?:ed|ing)?\b|\bwhat (?:has |have |had )?failed\b|\bfailed (?:fix|attempt|tr)|\bavoid\b|\b(?:fix\w*|attempts?|things?) (?:that|which) failed|\bmade it worse\b|\bnever work"),
    (Intent.SKIP, r"\bskip\w*\b|\bwast(?:e|ed|es|ing)\b.*\btime\b|\btime ?wast|\b(?:can|could|should|may|safely) (?:\w+ )?ignore\b|\brul(?:e|ed|ing) out\b|\b(?:not|dont|do not|neednt|shouldnt|should not) (?:to )?(?:check|bother|look|debug|investigate|chase|waste|need)|\bred herrings?\b|\bdead ends?\b|\bno (?:point|need|use) (?:in |to )?(?:check|look|debug)"),
    (Intent.CAUSE, r"\broot ?causes?\b|\brca\b|\bcauses?\b|\bcaused\b|\bculprit\b|\bwhy (?:is|did|does|are|was|were|do) (?!you\b)(?:this|it|we|the|that|our|everything|\w+) ?.*\b(?:happen|fail|fir|down|break|broke|slow|error|tim|alert|wrong|500|50\d)\w*|\breason for\b|\bwhat (?:is|was|went) (?:wrong|broken|behind)\b|\bwhat broke\b"),
    (Intent.FIXED, r"\bwho (?:\w+ )?(?:fix|solve|resolve|handle|know|did|repair|work|can help|to (?:ask|call|page|ping)|should (?:we|i) (?:ask|call|page|ping))\w*|\bwho (?:has|had|have) (?:fix|solve|resolve|seen|experience)\w*|\bwhen (?:was|did|were) .*\b(?:fix|last|work|resolve|solve)\w*|\blast time\b|\b(?:how|what) (?:did|was|were|have) .*\b(?:fix|solve|resolve|mitigate|repair)\w*|\bwhat (?:has )?(?:fixed|solved|helped|worked|resolved)\b|\bwhat usually (?:fix|work|help)\w*|\bexpert\b|\bwho (?:was|were) (?:on ?call|it|involved)\b"),
    (Intent.TRIED, r"\b(?:what|anything|anyone|anybody|somebody|who|has|have|did|was|were|already)\b.*\b(?:tried|attempted|try|done so far|did so far)\b|\bso far\b|^tried\b"),
    (Intent.SURE, r"\bhow (?:sure|certain|confident|reliable|good|solid|safe|much (?:can|do|should|would) (?:we|i|you) trust)\b|\bconfiden\w+|\bare you (?:\w+ )?(?:sure|certain|confident|serious|positive)|^(?:but )?why(?: not| so| that| this)?$|\bwhy (?:do|are|did|would) you\b|\bwhy should (?:we|i)\b|\bwhy (?:this|that|the|so|is it|is this|is that) (?:fix|recommendation|high|low|medium|sure|verdict|step|boundary)|\btrust\b|\bsays who\b|\bhow (?:do|can|did) you know\b|\bon what (?:basis|grounds)\b|\bbased on what\b|\bexplain (?:this|that|your|why|the)\b|\bwhy (?:high|low|medium)\b|\bprove\b"),
    (Intent.SIDE, r"\b(?:us|we|our|ours|internal|me|ourselves)\b.*\b(?:or|vs|versus)\b|\b(?:or|vs|versus) (?:is (?:it|this) )?(?:us|ours?|internal)\b|\bvendors?\b|\bthird part|\bproviders?\b|\bwhose (?:fault|problem|side|end|issue|bug)\b|\bboundary\b|\b(?:is|was) (?:it|this|that) (?:on )?(?:us|ours?|them|theirs?|external|internal|upstream)\b|\bstatus ?pages?\b|\bupstream\b|\b(?:our|their) (?:fault|side|end|bug|problem)\b|\bwhere (?:is|lies|does) the (?:fault|problem|issue)"),
    (Intent.CHANGED, r"\b(?:what|whats|anything|something|did|has|have|who|was|were|any|is|are|which|when|show|list|recent|last|latest)\b.*\b(?:chang|deploy|releas|shipped|merged|rolled out|rollout|pushed)\w*|^(?:changes|deploys?|deployments?|releases?)$|\bwhat is new\b"),
    (Intent.SOURCES, r"\b(?:which|what|list|show|give|other|similar|past|related|more)\b.*\b(?:incidents?|precedents?|sources?|cases|records?|postmortems?|tickets?)\b|^(?:sources?|incidents?|precedents?|links?)$|\bwhere (?:is|does) (?:this|that) (?:from|come)"),
    (Intent.SEEN, r"\bstill (?:firing|happening|broken|down|open|failing|red|bad|going|an issue)\b|\bis (?:it|this|that) (?:over|fixed|resolved|cleared|back|up|done|ok|okay|down|better)\b|\bmetrics?\b|\bgraphs?\b|\blogs?\b|\bevidence\b|\berror ?rates?\b|\blatency\b|\bp9[59]\b|\bwhat (?:is|are) (?:happening|going on|the (?:current )?(?:status|state|numbers|symptoms))\b|\bcurrent(?:ly)? (?:state|status|numbers|firing)\b|^status$|\bhow bad\b|\bwhat do (?:you|we) see\b|\bhow (?:is|are) (?:it|things|we|the \w+) (?:looking|doing|now|going)"),
    (Intent.NEXT, r"\bwhat (?:now|next|first|then|else|to do|to try|should|shall|can|do|would|must|could|steps|are the (?:steps|options))\b|\bnext (?:steps?|actions?|moves?|thing)\b|\bsteps?\b|\brunbooks?\b|\bplaybooks?\b|\brecommend\w*|\bsuggest\w*|\badvi[cs]e\b|\bhow (?:do|to|can|should|would|could|shall) (?:(?:we|i|you|one|this|it) )?(?:be )?(?:fix|solve|mitigate|resolve|proceed|stop|recover|repair|handle)\w*|\bhelp (?:me|us)\b|\bwhere (?:do|should|to|shall) (?:we |i )?(?:start|begin|look)|^(?:fix|fixes|now what|next|todo|to do|so|and now|plan|ideas?|any ideas?|options?|then what|what)$|\bany ideas?\b|\bmitigat\w*|\bwhat (?:is|are) the (?:fix|plan|steps?|solution|remedy)\b|\bhow (?:do|can|should) (?:we|i) proceed"),
)  # fmt: skip
_COMPILED = tuple((intent, re.compile(pattern)) for intent, pattern in RULES)
_SHORT = {
    "whats": "what is", "whos": "who is", "hows": "how is", "wheres": "where is", "wat": "what", "wht": "what", "wut": "what", "waht": "what",
    "u": "you", "ur": "your", "r": "are", "shld": "should", "shoud": "should", "shuld": "should", "wot": "what", "ru": "are you",
    "didnt": "did nt", "doesnt": "does nt", "hasnt": "has nt", "havent": "have nt", "pls": "", "plz": "", "please": "", "btw": "",
    "weve": "we have", "isnt": "is not", "arent": "are not", "its": "it is", "thats": "that is", "gonna": "going to", "wanna": "want to",
    "tho": "", "lol": "", "um": "", "uh": "", "thr": "there", "b4": "before", "ppl": "people", "rn": "now",
}  # fmt: skip
# Words of the rules that are worth a typo.
_KNOWN_WORDS = """
skip what should next status update cause caused root vendor happened happen before fixed worked change changed deploy deploys deployed
deployment release released incident incidents similar compare memory tried confident confidence certain recommend recommendation trust
runbook steps customers stakeholders summary write draft often wasted where which time happening solved resolved avoid failed first again
internal metrics evidence firing precedents sources last sure"""
_KNOWN = frozenset(_KNOWN_WORDS.split())
# Real words that are one typo from one of these.
_REAL_WORDS = "fired pause clause chance charge charged there then than lasts cost past list late lasted store sores"
_REAL = frozenset(_REAL_WORDS.split())
_OPENINGS = frozenset(
    {"hey", "hi", "hello", "ok", "okay", "so", "and", "but", "well", "yo", "precedent", "bot", "also", "hmm"}
)
_WORD = re.compile(r"[^\W_]+")


def understand(text: str, vendor: str | None = None) -> AskedQuestion:
    """Return what a message to the bot asks for.

    `text` is as people read it, with or without the bot's name; `vendor` is the alert's, which people call by its
    name.
    """
    words = list(_split_words(text[:MOST_QUESTION]))
    while len(words) > 1 and words[0] in _OPENINGS:
        del words[0]
    question = " ".join(words)
    named = " ".join(_split_words(vendor[:60])) if vendor else ""
    question = re.sub(rf"\b{re.escape(named)}\b", "vendor", question) if named else question
    found = next((intent for intent, pattern in _COMPILED if pattern.search(question)), Intent.UNKNOWN)
    return AskedQuestion(found, sure=len(words) <= SURE_WORDS)


def _split_words(text: str) -> Iterator[str]:
    calm = unicodedata.normalize("NFKC", text).casefold()
    for word in _WORD.findall(re.sub(r"['’`´]", "", calm)):
        yield from _SHORT[word].split() if word in _SHORT else (_correct_spelling(word),)


@lru_cache(maxsize=4096)
def _correct_spelling(word: str) -> str:
    """Return the known word that was meant, if one letter is wrong, missing, extra or swapped with its neighbor."""
    if len(word) < 4 or len(word) > 15 or word in _KNOWN or word in _REAL:
        return word
    meant = [known for known in _KNOWN if known[0] == word[0] and _is_one_slip(word, known)]
    return min(meant) if meant else word


def _is_one_slip(word: str, known: str) -> bool:
    start = next((n for n, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), min(len(word), len(known)))
    a, b = word[start:], known[start:]
    if a[:2] == b[1::-1] and len(b) > 1 and a[2:] == b[2:]:
        return True
    if len(known) < 5:
        return False
    # an ending more or less is another form of a word, not a slip
    return a[1:] == b[1:] or (bool(a[1:]) and a[1:] == b) or (bool(b[1:]) and a == b[1:])


@dataclass(frozen=True, slots=True)
class PastAnswer:
    """One answer of the bot in a channel, decoded from its delivery id."""

    channel: str
    user: str
    ts: str
    kind: str  # whether it says, asks back, or reports a limit
    at: datetime  # when it was queued


def build_delivery_id(channel: str, user: str, ts: str, kind: str = SAYS) -> str:
    """Return the delivery id of the answer to a message: one a message, whoever answers and however often."""
    return build_talk_id(channel, user, ts, kind)


def read_past_answer(delivery_id: str, at: datetime) -> PastAnswer | None:
    """Decode a delivery id; None for another kind of delivery."""
    parts = split_talk_id(delivery_id)
    return PastAnswer(*parts, at) if parts else None


def choose_turn(lately: Sequence[PastAnswer], channel: str, user: str, ts: str, now: datetime) -> ReplyTurn:
    """Decide whether this message is answered, by limits per person and minute, and per channel and hour.

    The first message over a limit is told so, later ones get silence. `lately` are the last hour's answers in all
    channels.
    """
    others = [a for a in lately if (a.channel, a.user, a.ts) != (channel, user, ts)]
    answered = [a for a in others if a.kind != LIMITED]
    rules = (
        (MINUTE, PERSON_A_MINUTE, [a for a in answered if a.user == user], [a for a in others if a.user == user]),
        (
            HOUR,
            CHANNEL_AN_HOUR,
            [a for a in answered if a.channel == channel],
            [a for a in others if a.channel == channel],
        ),
    )
    for span, most, counted, about in rules:
        if sum(now - a.at < span for a in counted) >= most:
            warned = any(a.kind == LIMITED and now - a.at < span for a in about)
            return ReplyTurn.SILENCE if warned else ReplyTurn.TOLD
    return ReplyTurn.ANSWER
