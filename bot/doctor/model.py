"""Check that the language model can be asked, without spending a token."""

from __future__ import annotations

from bot.bootstrap.lazy_adapters import import_adapter
from bot.bootstrap.wiring.assistant import format_model_name
from bot.doctor.finding import Finding
from bot.ports.errors import ModelUnavailable
from bot.settings import Settings, find_proxy

WITHIN_S = 5.0
MOST_NAMED = 6
MEANWHILE = "Until then the record alone answers; LLM=off ends this."
FIXES = (
    ("key refused", "Put a valid key (console.groq.com → API Keys) into GROQ_API_KEY, restart the bot."),
    ("no server of models", "Correct GROQ_BASE_URL (https://api.groq.com): something else answers there."),
    ("cannot be reached", "Check the network, a proxy (HTTPS_PROXY), and GROQ_BASE_URL (normally not set)."),
)
ELSE = "Try again later; see the status page of the models' server."
OFF = "off ({}): questions in threads are answered from the record alone"


async def check_language_model(settings: Settings) -> Finding:
    """Check that the server answers, accepts the key, and offers the configured models."""
    if format_model_name(settings) == "off" or not settings.groq_api_key:
        why = (
            "LLM=off" if settings.llm == "off" else "no GROQ_API_KEY" if not settings.groq_api_key else "no GROQ_MODELS"
        )
        return Finding("Language model", None, OFF.format(why))
    try:
        known: frozenset[str] = await import_adapter("model.groq").list_offered_models(
            settings.groq_api_key.get_secret_value(), settings.groq_base_url, WITHIN_S
        )
    except ModelUnavailable as problem:
        return Finding(
            "Language model", False, f"{settings.groq_base_url}: {problem}", _suggest_fix(settings, str(problem))
        )
    usable = [name for name in settings.model_names if name in known]
    gone = [name for name in settings.model_names if name not in known]
    told = f"retired, or not offered to this key: {', '.join(gone)}"
    if not usable:
        return Finding("Language model", False, told, _format_models(known))
    return Finding("Language model", True, "; ".join([", ".join(usable), *([told] if gone else [])]))


def _format_models(known: frozenset[str]) -> str:
    """List the models that could be configured instead."""
    offered = ", ".join(sorted(known)[:MOST_NAMED]) or "none"
    return f"Set GROQ_MODELS to models that the server offers to this key ({offered}), restart the bot. {MEANWHILE}"


def _suggest_fix(settings: Settings, problem: str) -> str:
    proxy = find_proxy(settings.groq_base_url) if "cannot be reached" in problem else None
    if proxy:
        return f"Add its host to NO_PROXY, or correct {proxy[0]} ({proxy[1]}). {MEANWHILE}"
    fix = next((fix for sign, fix in FIXES if sign in problem), ELSE)
    return f"{fix} {MEANWHILE}"
