"""Speech and images, told in words to a model that takes neither. (chapter 3.4)

    message = await told_in_words(user("What is this?", image), prompts, describe=my_describer)
    result = await agent.run(message)

Who listens and who looks is handed in: another model, a program, a person. What they say is put
into a template, so that the model knows that it reads a description and not the user's words.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from freya_teach.agent.turn import run_is_cancelled
from freya_teach.errors import PromptError
from freya_teach.llm.messages import ImagePart, OpaquePart, TextPart, UserMessage, UserPart
from freya_teach.llm.wirejson import as_dict, as_text
from freya_teach.prompt.registry import PromptRegistry
from freya_teach.prompt.template import render

logger = logging.getLogger(__name__)

Describe = Callable[[ImagePart], Awaitable[str]]
"""An image → what is on it."""
Transcribe = Callable[[str, bytes], Awaitable[str]]
"""Media type such as `audio/wav`, and the bytes → what is said."""

SPEECH_TEMPLATE = "core.prompt.stt_template"
IMAGE_TEMPLATE = "core.prompt.image_description_template"


async def told_in_words(
    message: UserMessage,
    prompts: PromptRegistry,
    *,
    describe: Describe | None = None,
    transcribe: Transcribe | None = None,
) -> UserMessage:
    """The message with each image and each recording of speech replaced by words.

    Attachments are told side by side and stay in their order. What cannot be told stays as it is,
    with a note for the model behind it. Raises `PromptError` for a template that is wrong, before
    anybody is asked.
    """
    speech = _template(prompts, SPEECH_TEMPLATE) if transcribe else ""
    image = _template(prompts, IMAGE_TEMPLATE) if describe else ""

    async def told(part: UserPart) -> tuple[UserPart, ...]:
        if describe and isinstance(part, ImagePart):
            return await _told(part, "image", partial(describe, part), image)
        if transcribe and (audio := audio_of(part)):
            return await _told(part, "recording", partial(_heard, transcribe, *audio), speech)
        return (part,)

    parts = await asyncio.gather(*map(told, message.parts))
    return replace(message, parts=tuple(part for each in parts for part in each))


def _template(prompts: PromptRegistry, key: str) -> str:
    """The template of this key, tried once. Raises `PromptError` that names its file."""
    prompt = prompts.get(key)
    try:
        render(prompt.text, text="")
    except PromptError as problem:
        raise PromptError(f"{prompt.path}: {problem}") from None
    return prompt.text


async def _told(
    part: UserPart, what: str, ask: Callable[[], Awaitable[str]], template: str
) -> tuple[UserPart, ...]:
    text = ""
    try:
        text = (await ask()).strip()
    except asyncio.CancelledError:
        if run_is_cancelled():
            raise
        logger.warning("whoever should have told an attachment in words was cancelled")
    except Exception:
        logger.exception("an attachment could not be told in words")
    if text:
        return (TextPart(render(template, text=text)),)
    note = f"[The user sent this {what}, and it could not be told in words. Say so if it matters.]"
    return part, TextPart(note)


async def _heard(transcribe: Transcribe, media_type: str, encoded: str) -> str:
    return await transcribe(media_type, base64.b64decode(encoded, validate=True))


def audio_of(part: UserPart) -> tuple[str, str] | None:
    """Media type and base64 of a recording in either provider's form; None for anything else."""
    if not isinstance(part, OpaquePart):
        return None
    data = part.provider_data.data
    speech, inline = as_dict(data.get("input_audio")), as_dict(data.get("inlineData"))
    media_type = as_text(inline.get("mimeType")) or f"audio/{as_text(speech.get('format'))}"
    encoded = as_text(speech.get("data")) or as_text(inline.get("data"))
    if not encoded or not media_type.startswith("audio/"):
        return None
    return media_type, encoded
