"""Which models there are, and how many tokens a request has. (chapter 5.2)

GET  /v1/models          GET  /v1/models/{model}             OpenAI: names only
GET  /v1beta/models      GET  /v1beta/models/{model}         Gemini: names and limits
POST /v1beta/models/{model}:countTokens                      Gemini: a count before it costs
"""

from __future__ import annotations

from freya_teach.lab.gateway.gemini_rules import no_such_model
from freya_teach.lab.gateway.gemini_wire import field, no_contents
from freya_teach.lab.gateway.generations import GEMINI, OPENAI, Generation, generation_of
from freya_teach.lab.gateway.openai_wire import refusal
from freya_teach.lab.gateway.request import Body
from freya_teach.lab.gateway.wire import CREATED, Sent, count_tokens, mapping
from freya_teach.llm.messages import Json


def is_gemini(path: str) -> bool:
    """Whether the address is one of Google's."""
    verbs = (":generateContent", ":streamGenerateContent", ":countTokens")
    return "/v1beta/models" in path or path.endswith(verbs)


def listing(path: str) -> Sent | None:
    """The answer to a GET, or None where the path is none of these. Raises `Refused`."""
    _, found, name = path.partition("/models")
    if not found or (name and not name.startswith("/")):
        return None
    gemini = is_gemini(path)
    if name.strip("/"):
        return Sent(_gemini_model(name[1:]) if gemini else _openai_model(name[1:]))
    if gemini:
        return Sent({"models": [_gemini_entry(m, each) for each in GEMINI for m in each.models]})
    data = [_openai_entry(model) for each in OPENAI for model in each.models]
    return Sent({"object": "list", "data": data})


def _openai_model(model: str) -> Body:
    generation = generation_of(model)
    if generation.name == "compatible" or generation.retired:
        says = f"The model '{model}' does not exist"
        raise refusal(says, "model", "model_not_found", status=404)
    return _openai_entry(model)


def _openai_entry(model: str) -> Body:
    return {"id": model, "object": "model", "created": CREATED, "owned_by": "gateway"}


def _gemini_model(model: str) -> Body:
    generation = generation_of(model, "gemini")
    if generation.name == "unknown":
        raise no_such_model(model)
    return _gemini_entry(model, generation)


def _gemini_entry(model: str, generation: Generation) -> Body:
    methods = ["embedContent"] if generation.embeds else ["generateContent"]
    return {
        "name": f"models/{model}",
        "version": "gateway",
        "displayName": model,
        "inputTokenLimit": generation.window,
        "outputTokenLimit": generation.max_output,
        "supportedGenerationMethods": [*methods, "countTokens"],
        "thinking": bool(generation.thinks_by),
    }


def counted(body: Json, path: str) -> Sent:
    """How many tokens a request has. Raises `Refused` where there is nothing to count.

    `contents` alone count no instructions and no tools; `generateContentRequest` counts them all.
    """
    model = path.rpartition("/models/")[2].partition(":")[0]
    if generation_of(model, "gemini").name == "unknown":
        raise no_such_model(model)
    asked = mapping(body)
    whole = mapping(field(asked, "generateContentRequest"))
    if not whole and not asked.get("contents"):
        raise no_contents()
    return Sent({"totalTokens": count_tokens(whole or asked["contents"])})
