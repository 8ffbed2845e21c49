"""Whether the language model can be asked, without asking it anything. Must not spend a token."""

from __future__ import annotations

from bot.bootstrap.finding import Finding
from bot.bootstrap.model import model_name
from bot.bootstrap.named import adapter
from bot.ports import ModelUnavailable
from bot.settings import Settings

WITHIN_S = 5.0
OFF = "off ({}): questions in threads are answered from the record alone"


async def language_model(settings: Settings) -> Finding:
    """The server answers, takes the key, and offers the models that are set."""
    if model_name(settings) == "off" or settings.groq_api_key is None:
        why = (
            "LLM=off" if settings.llm == "off" else "no GROQ_API_KEY" if not settings.groq_api_key else "no GROQ_MODELS"
        )
        return Finding("Language model", None, OFF.format(why))
    try:
        known: frozenset[str] = await adapter("groq").offered(
            settings.groq_api_key.get_secret_value(), settings.groq_base_url, WITHIN_S
        )
    except ModelUnavailable as problem:
        mend = (
            "Check GROQ_API_KEY, GROQ_BASE_URL and the network; until then the record alone answers. LLM=off ends this."
        )
        return Finding("Language model", False, f"{settings.groq_base_url}: {problem}", mend)
    usable = [name for name in settings.model_names if name in known]
    gone = [name for name in settings.model_names if name not in known]
    told = f"not offered to this key: {', '.join(gone)}"
    if not usable:
        return Finding("Language model", False, told, "Set GROQ_MODELS to models that the server offers.")
    return Finding("Language model", True, "; ".join([", ".join(usable), *([told] if gone else [])]))
