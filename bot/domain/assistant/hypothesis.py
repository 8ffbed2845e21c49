"""Check a model's answer: it is a hypothesis, never a cause, and `check_hypothesis` decides whether it is shown at
all.

Nothing can be said that was not given: incidents, figures, hosts and past events must occur in what the answer
cites, and links, mentions, foreign commands and requests for secrets reject it as a whole. A model may obey
anybody, so nothing here relies on its instructions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.assistant.number_check import find_unsupported_figures
from bot.domain.assistant.output_rules import GUARDS, ORDERS, PAST, SECRETS, SPELT_HOST, is_plain_english
from bot.domain.fixes.identity import build_fix_key
from bot.domain.fixes.steps import DESTRUCTIVE
from bot.domain.incidents.record import VerificationStatus
from bot.domain.text.format import cut
from bot.domain.text.redaction import mask

ALERT = "ALERT"
# What each part may take on a phone, in characters.
LIMITS = {"possible_root_cause": 300, "reasoning": 600, "recommended_next_action": 400, "uncertainty": 300}
NEEDED = ("possible_root_cause", "recommended_next_action")
LONGEST = 2_000
MOST_CITED = 12


class ModelConfidence(StrEnum):
    """How sure the model claims to be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class InputPart(StrEnum):
    """The part of the input that something comes from."""

    EVIDENCE = "evidence"
    PRECEDENT = "precedents"
    ATTEMPT = "attempts"


@dataclass(frozen=True, slots=True)
class Citation:
    """One thing that may be cited: `id` ("ALERT", "E1", "INC-7", "A1") and its text."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class TriedFix:
    """A fix that was tried in this incident, and its outcome."""

    id: str
    fix: str
    status: VerificationStatus

    @property
    def citation(self) -> Citation:
        """The fix as the model gets it."""
        return Citation(self.id, f"{self.fix} ({self.status.value})")


@dataclass(frozen=True, slots=True)
class ModelInput:
    """Everything the model gets, in three parts that are never mixed."""

    evidence: tuple[Citation, ...]
    precedents: tuple[Citation, ...] = ()
    attempts: tuple[TriedFix, ...] = ()
    failed: tuple[str, ...] = ()  # fixes known not to work, besides the attempts that FAILED
    memory: bool = True  # without it no precedent is given, and nothing past may be mentioned

    @property
    def texts_by_id(self) -> Mapping[str, str]:
        """Every text by its id."""
        parts = (*self.evidence, *(self.precedents if self.memory else ()), *(a.citation for a in self.attempts))
        return {cited.id: cited.text for cited in parts}

    @property
    def failed_fixes(self) -> tuple[str, ...]:
        """The fixes that must not be proposed again."""
        return (*(a.fix for a in self.attempts if a.status is VerificationStatus.FAILED), *self.failed)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What may be shown, labeled as unverified."""

    possible_root_cause: str
    reasoning: str
    recommended_next_action: str
    uncertainty: str
    confidence: ModelConfidence
    cited: tuple[str, ...]
    dangers: tuple[str, ...] = ()  # what its action would destroy or force


@dataclass(frozen=True, slots=True)
class RejectedHypothesis:
    """Why an answer is not shown."""

    rule: str  # for counting
    reason: str  # a clause for people ("it …"), in our own words only
    detail: tuple[str, ...] = ()  # the offending words of the answer: never shown


_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_FORMAT = str.maketrans(dict.fromkeys("*`~|", ""))
_EMOJI = re.compile(r"(?<![\w:]):([a-z][a-z0-9_+-]{1,40}):(?!:)")
_MARKER = re.compile(r"(?:^|(?<=[;\n]))\s*(?:\d{1,2}[.)]|[-•*])\s+")
_LINK = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}:/{1,2}\S|\bwww\.|\b(?:mailto|javascript|data|tel|slack):|\]\(|&(?:lt|gt|amp|#)", re.I
)
_MENTION = re.compile(r"<\s*[!@#/a-z]|(?<!\w)@\s?\w|!(?:channel|here|everyone|subteam)", re.I)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
# in any script: a host in lookalike letters was not in the input
_HOST = re.compile(
    r"(?<![\w@/.-])(?:[\w-]{1,63}\.){1,8}(?!(?:js|java|ya?ml|json|log|conf|ini|sql|txt|toml|xml|cfg|csv|hcl|lock|jar|war|kt|go|tsx|php)\b|(?<=\bapplication\.)properties\b)[^\W\d_]{2,24}(?![\w-])",
    re.I,
)
_ID = re.compile(r"\b(?:INC[-\s#]?\d+|[EA]\d{1,3})\b", re.I)
_COMMANDS = (
    "curl", "wget", "nc", "ncat", "telnet", "sudo", "chmod", "chown", "eval", "base64", "powershell", "iex", "scp", "bash", "zsh",
    "sh", "python", "perl", "ruby", "dd", "mkfs", "shutdown", "reboot", "iptables", "crontab", "ssh", "xargs", "nohup", "osascript",
)  # fmt: skip
_SHELL = re.compile(
    rf"(?<![\w-])(?:{'|'.join(_COMMANDS)})(?=\s+[-/\w'\"$(])|\$\(|&&|\|\s*\w|>\s*/|;\s*rm\b|\brm\s+-", re.I
)
_NOT_COMMANDS = frozenset({"sh", "nc", "dd", "python", "ruby", "perl", "reboot", "shutdown", "bash", "ssh", "scp"})
_RECYCLE = re.compile(r"\b(?:recycl|cycl|respawn|relaunch)(?:e[sd]?|ing|ed|s)?\b", re.I)
# What a service runs as: restarting its pods or its deployment is the same fix. Words as in `build_fix_key`.
_UNITS = frozenset(
    [
        "pod",
        "deploy",
        "deployment",
        "contain",
        "container",
        "instanc",
        "instance",
        "replica",
        "servic",
        "service",
        "process",
        "roll",
        "rolling",
        "all",
        "each",
        "one",
    ]
)
_URGED = re.compile(r"\b(?:do not|don't|never) (?:hesitate|forget|fail|wait|delay)(?: to)?\b", re.I)
_NOT_DONE = re.compile(
    r"\b(?:instead of|rather than|avoid|do not|don't|never|without|no need to)\b[^.;,:\n]*", re.I
)  # fmt: skip


def tidy(text: str) -> str:
    """Return a model's text in lines of plain characters, without formatting, list numbers or invisible characters."""
    plain = unicodedata.normalize("NFKC", text).replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    shown = "".join(
        c if c == "\n" else " " if c == "\t" or unicodedata.category(c) == "Zs" else c
        for c in plain
        if c in "\n\t" or (unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn"} and c not in _INVISIBLE)
    )
    return " ".join(_MARKER.sub(" ", _EMOJI.sub(r"\1", shown.translate(_FORMAT))).split())


def check_hypothesis(raw: object, given: ModelInput) -> Hypothesis | RejectedHypothesis:
    """Return the hypothesis in a model's answer, or why it is rejected.

    `raw` is the answer's JSON, `given` exactly the input that the model had.
    """
    if not isinstance(raw, Mapping):
        return _reject_malformed("it was no object")
    for name in LIMITS:
        if not isinstance(raw.get(name), str) or len(raw[name]) > LONGEST:
            return _reject_malformed(f"it had no usable “{name}”")
    # what is checked is what is shown: an invisible character inside of a link may not hide it
    texts = {name: tidy(raw[name]) for name in LIMITS}
    confidence, cited = raw.get("confidence"), raw.get("cited")
    if confidence not in set(ModelConfidence) or not all(texts[name] for name in NEEDED):
        return _reject_malformed("a part of it was empty")
    if not isinstance(cited, list | tuple) or not all(isinstance(one, str) for one in cited):
        return _reject_malformed("it did not say what it cites")
    ids = tuple(dict.fromkeys(cited))
    refused = _find_refusal(texts, ids, given)
    return refused or _build_hypothesis(texts, ids, ModelConfidence(confidence), given)


def _reject_malformed(reason: str) -> RejectedHypothesis:
    return RejectedHypothesis("form", reason)


def _build_hypothesis(
    texts: Mapping[str, str], ids: tuple[str, ...], confidence: ModelConfidence, given: ModelInput
) -> Hypothesis:
    shown = {name: cut(mask(text)[0], LIMITS[name]) for name, text in texts.items()}
    seen_now = {cited.id for cited in given.evidence} - {ALERT}
    # nobody can be sure who looked at nothing but the alert itself
    if confidence is ModelConfidence.HIGH and not seen_now & set(ids):
        confidence = ModelConfidence.MEDIUM
    dangers = tuple(word for word, pattern in DESTRUCTIVE if pattern.search(texts["recommended_next_action"]))
    return Hypothesis(**shown, confidence=confidence, cited=ids, dangers=dangers)


def _find_refusal(texts: Mapping[str, str], ids: tuple[str, ...], given: ModelInput) -> RejectedHypothesis | None:
    whole = "\n".join(texts.values())
    held = given.texts_by_id
    return (
        _find_unknown_ids(ids, held)
        or _find_hostile_text(whole)
        or _find_invented_ids(whole, ids, held)
        or _find_foreign_names(whole, texts["recommended_next_action"], [held[one] for one in ids])
        or _find_invented_figures(whole, ids, held)
        or _find_uncited_past(whole, ids, given)
        or _find_other_language(texts, [held[one] for one in ids])
        or _find_failed_fix(texts["recommended_next_action"], given.failed_fixes)
    )


def _find_unknown_ids(ids: tuple[str, ...], held: Mapping[str, str]) -> RejectedHypothesis | None:
    if not ids:
        return RejectedHypothesis("citation", "it cited nothing")
    if len(ids) > MOST_CITED:
        return RejectedHypothesis("citation", "it cited too much")
    unknown = tuple(one for one in ids if one not in held)
    return RejectedHypothesis("citation", "it cited what it was not given", unknown) if unknown else None


def _find_hostile_text(whole: str) -> RejectedHypothesis | None:
    """Reject what no honest answer needs: links, mentions, addresses, orders, requests for secrets."""
    if _MENTION.search(whole):
        return RejectedHypothesis("mention", "it tried to mention somebody, or to hold markup")
    if _LINK.search(whole) or _ADDRESS.search(whole) or SPELT_HOST.search(whole):
        return RejectedHypothesis("link", "it held a link or an address")
    if SECRETS.search(whole):
        return RejectedHypothesis("secrets", "it asked for secrets")
    return RejectedHypothesis("orders", "it spoke of its instructions") if ORDERS.search(whole) else None


def _find_other_language(texts: Mapping[str, str], given_texts: Iterable[str]) -> RejectedHypothesis | None:
    """Reject other languages: the word lists would find nothing in them."""
    known = "\n".join(given_texts).casefold()
    if all(is_plain_english(text, known) for text in texts.values()):
        return None
    return RejectedHypothesis("language", "it was not in plain English")


def _find_invented_ids(whole: str, ids: tuple[str, ...], held: Mapping[str, str]) -> RejectedHypothesis | None:
    """Reject ids that are not cited; an id inside a cited text (an error code "E11000") is not invented."""
    named = {re.sub(r"^INC[-\s#]?", "INC-", found.upper()) for found in _ID.findall(whole)}
    cited = {one.upper() for one in ids}
    cited_text = "\n".join(held[one] for one in ids).upper()
    invented = tuple(n for n in sorted(named - cited) if not re.search(rf"(?<![\w-]){re.escape(n)}(?!\w)", cited_text))
    return (
        RejectedHypothesis("citation", "it spoke of an incident or id that it did not cite", invented)
        if invented
        else None
    )


def _find_foreign_names(whole: str, action: str, cited_texts: list[str]) -> RejectedHypothesis | None:
    """Reject hosts, commands and destructive words that nothing cited contains."""
    known = "\n".join(cited_texts).casefold()
    hosts = tuple(host for host in _HOST.findall(whole) if host.casefold() not in known)
    if hosts:
        return RejectedHypothesis("host", "it named a host that it was not given", hosts)
    commands = [found[0] for found in _SHELL.finditer(whole) if found[0].casefold().strip() not in known]
    if any(command.casefold() not in _NOT_COMMANDS or _is_typed_command(command, whole) for command in commands):
        return RejectedHypothesis("command", "it held a command that nobody gave it", tuple(commands))
    if (guard := GUARDS.search(_strip_advice_against(action))) and guard[0].casefold() not in known:
        return RejectedHypothesis(
            "guard", "it wanted to take down what protects or watches, or to let somebody in", (guard[0],)
        )
    for word, pattern in DESTRUCTIVE:
        if pattern.search(action) and not pattern.search(known):
            return RejectedHypothesis("destruction", f"it wanted to {word} something, which nothing that it cites did")
    return None


def _is_typed_command(command: str, whole: str) -> bool:
    """Return whether a word that is also a product or a verb is used as a command ("ssh -p", not "ssh access")."""
    return re.search(rf"(?<![\w-]){re.escape(command)}\s+(?:-|/|['\"$(]|\w+[./@])", whole, re.IGNORECASE) is not None


def _find_invented_figures(whole: str, ids: tuple[str, ...], held: Mapping[str, str]) -> RejectedHypothesis | None:
    bare = re.sub("|".join(rf"(?<![\w-]){re.escape(one)}(?!\w)" for one in ids), " ", whole, flags=re.IGNORECASE)
    invented = find_unsupported_figures(bare, (held[one] for one in ids))
    return RejectedHypothesis("figure", "it gave figures that are not in what it cites", invented) if invented else None


def _find_uncited_past(whole: str, ids: tuple[str, ...], given: ModelInput) -> RejectedHypothesis | None:
    """Reject talk of the past without memory, or without a citation of the incident."""
    known = {cited.id for cited in given.precedents} if given.memory else set()
    found = PAST.search(whole)
    if found is None or known & set(ids):
        return None
    if known:
        return RejectedHypothesis("past", "it spoke of the past without naming an incident", (found[0],))
    return RejectedHypothesis("past", "it spoke of past incidents, and it was given none", (found[0],))


def _find_failed_fix(action: str, failing: Iterable[str]) -> RejectedHypothesis | None:
    """Return the rejection of an action that is, or contains, a fix that did not work, whatever its wording."""
    done = [_parse_clause(c) for c in build_fix_key(_strip_advice_against(action))]
    for fix in failing:
        wanted = [_parse_clause(c) for c in build_fix_key(_RECYCLE.sub("restart", fix))]
        if wanted and all(any(_is_same_clause(w, d) for d in done) for w in wanted):
            return RejectedHypothesis("failed", f"it proposed what failed already ({cut(mask(fix)[0], 80)})")
    return None


def _strip_advice_against(action: str) -> str:
    """Return the action's steps without those it advises against."""
    return _RECYCLE.sub("restart", _NOT_DONE.sub(" ", _URGED.sub(" ", action)).replace(". ", "; "))


def _parse_clause(form: str) -> tuple[str, frozenset[str]]:
    """Return (action, objects) of a clause in the form of `build_fix_key`: "restart(api payment)"."""
    action, _, things = form.partition("(")
    words = frozenset(things.removesuffix(")").split())
    return action, words - _UNITS or words


def _is_same_clause(one: tuple[str, frozenset[str]], other: tuple[str, frozenset[str]]) -> bool:
    """Return whether both do the same to the same thing, give or take a word about it."""
    if one[0] != other[0] or "not" in one[1] ^ other[1]:
        return False
    if not one[0]:
        return one[1] == other[1]
    return one[1] <= other[1] or (bool(other[1]) and other[1] <= one[1])
