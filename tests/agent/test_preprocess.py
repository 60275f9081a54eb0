"""Speech and images become words; what cannot be told stays, and the model knows."""

import asyncio
import base64
import logging
from pathlib import Path
from typing import Any

import pytest

from freya_teach.agent.preprocess import audio_of, told_in_words
from freya_teach.errors import PromptError
from freya_teach.llm.messages import (
    ImagePart,
    OpaquePart,
    ProviderData,
    TextPart,
    UserMessage,
    user,
)
from freya_teach.paths import course_folder
from freya_teach.prompt.registry import PromptRegistry
from tests.wire_answers import Answer, Model

PROMPTS = PromptRegistry(course_folder("prompts"))
PICTURE = ImagePart("image/png", b"a cat")
NOTE = "[The user sent this {}, and it could not be told in words. Say so if it matters.]"


def openai_audio(data: bytes | str = b"hello", media: str = "wav") -> OpaquePart:
    """A recording as OpenAI's wire has it."""
    inner = {"data": encoded(data), "format": media}
    part = {"type": "input_audio", "input_audio": inner}
    return OpaquePart("input_audio", ProviderData("openai", part))


def gemini_audio(data: bytes | str = b"hello", media: str = "audio/wav") -> OpaquePart:
    """A recording as Gemini's wire has it."""
    part = {"inlineData": {"mimeType": media, "data": encoded(data)}}
    return OpaquePart("inlineData", ProviderData("gemini", part))


def encoded(data: bytes | str) -> str:
    return data if isinstance(data, str) else base64.b64encode(data).decode()


async def describe(image: ImagePart) -> str:
    """Say what is on a picture: here the bytes are the description."""
    return image.data.decode()


async def transcribe(media_type: str, data: bytes) -> str:
    return f"{data.decode()} ({media_type})"


async def fail(*_: Any) -> str:
    raise RuntimeError("out of order")


def texts(message: UserMessage) -> list[str]:
    return [
        part.text if isinstance(part, TextPart) else type(part).__name__ for part in message.parts
    ]


# ---- told -----------------------------------------------------------------------------------


async def test_an_image_is_told_in_the_words_of_its_template() -> None:
    told = await told_in_words(user("What is it?", PICTURE), PROMPTS, describe=describe)
    assert texts(told) == [
        "What is it?",
        (
            "[The user sent an image. You cannot see it; a program described it as follows.]\n"
            "a cat\n[End of the description.]"
        ),
    ]


@pytest.mark.parametrize("part", [openai_audio(), gemini_audio()], ids=["openai", "gemini"])
async def test_a_recording_of_either_wire_is_told_in_the_words_of_its_template(
    part: OpaquePart,
) -> None:
    told = await told_in_words(user(part), PROMPTS, transcribe=transcribe)
    (text,) = texts(told)
    assert text.startswith("[The user sent a voice message.")
    assert "\nhello (audio/wav)\n" in text


async def test_what_is_told_goes_to_the_model_as_text() -> None:
    model = Model(Answer("A cat."))
    told = await told_in_words(user("What?", PICTURE), PROMPTS, describe=describe)
    await model.kernel().agent().run(told)
    assert "a cat" in str(model.bodies[0]["messages"][-1])
    assert "image_url" not in str(model.bodies[0])


async def test_words_with_braces_and_placeholders_stay_as_they_were_said() -> None:
    image = ImagePart("image/png", b'{text} {"a": {}} \\1')
    told = await told_in_words(user(image), PROMPTS, describe=describe)
    assert '\n{text} {"a": {}} \\1\n' in told.text


async def test_nothing_is_touched_that_nobody_was_handed_in_for() -> None:
    message = user("Hi", PICTURE, openai_audio())
    assert await told_in_words(message, PROMPTS) == message
    told = await told_in_words(message, PROMPTS, describe=describe)
    assert told.parts[2] == message.parts[2]


@pytest.mark.parametrize(
    "part",
    [
        OpaquePart("file", ProviderData("openai", {"type": "file", "file": {"file_id": "f"}})),
        gemini_audio(media="application/pdf"),
        openai_audio(data=""),
        OpaquePart("inlineData", ProviderData("gemini", {"inlineData": "nonsense"})),
        TextPart("Hi"),
        PICTURE,
    ],
)
async def test_what_is_no_recording_is_not_asked_about(part: Any) -> None:
    assert audio_of(part) is None
    assert await told_in_words(user(part), PROMPTS, transcribe=fail) == user(part)


# ---- side by side ---------------------------------------------------------------------------


async def test_attachments_are_told_side_by_side_and_stay_in_their_order() -> None:
    """Each waits for the one behind it: told one after the other, none would ever be done."""
    done = [asyncio.Event() for _ in range(4)]
    done[3].set()

    async def in_reverse(image: ImagePart) -> str:
        number = int(image.data)
        await done[number + 1].wait()
        done[number].set()
        return f"picture {number}"

    pictures = [ImagePart("image/png", str(number).encode()) for number in range(3)]
    async with asyncio.timeout(10):
        told = await told_in_words(
            user(pictures[0], "then", pictures[1], pictures[2]), PROMPTS, describe=in_reverse
        )
    said = [text.split("\n")[1] if "\n" in text else text for text in texts(told)]
    assert said == ["picture 0", "then", "picture 1", "picture 2"]


async def test_cancelling_cancels_whoever_is_still_telling_and_is_no_failure_of_theirs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def never(_: ImagePart) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    task = asyncio.create_task(told_in_words(user(PICTURE, PICTURE), PROMPTS, describe=never))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()
    assert caplog.text == ""


# ---- what goes wrong ------------------------------------------------------------------------


async def empty(*_: Any) -> str:
    return " \n"


async def no_text(*_: Any) -> Any:
    return None


async def cancelled_inside(*_: Any) -> str:
    raise asyncio.CancelledError  # a client of its own that was closed


def not_even_a_coroutine(*_: Any) -> Any:
    raise RuntimeError("out of order")


@pytest.mark.parametrize("failing", [fail, empty, no_text, cancelled_inside, not_even_a_coroutine])
async def test_one_that_fails_leaves_the_original_and_a_note_for_the_model(
    failing: Any, caplog: pytest.LogCaptureFixture
) -> None:
    sound = openai_audio()
    with caplog.at_level(logging.ERROR):
        told = await told_in_words(
            user("Hi", PICTURE, sound), PROMPTS, describe=failing, transcribe=failing
        )
    assert told.parts == (
        TextPart("Hi"),
        PICTURE,
        TextPart(NOTE.format("image")),
        sound,
        TextPart(NOTE.format("recording")),
    )
    raises = failing in (fail, not_even_a_coroutine)
    assert ("RuntimeError: out of order" in caplog.text) == raises


async def test_the_others_are_told_when_one_fails() -> None:
    async def only_cats(image: ImagePart) -> str:
        if image != PICTURE:
            raise ValueError("no cat")
        return "a cat"

    dog = ImagePart("image/png", b"a dog")
    told = await told_in_words(user(dog, PICTURE), PROMPTS, describe=only_cats)
    assert [text.count("a cat") for text in texts(told)] == [0, 0, 1]


async def test_a_recording_that_is_no_base64_stays_with_a_note() -> None:
    broken = gemini_audio("not base64!")
    told = await told_in_words(user(broken), PROMPTS, transcribe=transcribe)
    assert told.parts == (broken, TextPart(NOTE.format("recording")))


@pytest.mark.parametrize(
    ("template", "said"),
    [("It says {txt}.", "Did you mean {text}?"), ("It says nothing.", "would be lost")],
)
async def test_a_wrong_template_is_told_before_anybody_is_asked(
    tmp_path: Path, template: str, said: str
) -> None:
    path = tmp_path / "core.prompt.image_description_template.md"
    path.write_text(template, encoding="utf-8")
    prompts = PromptRegistry(PROMPTS.packaged, tmp_path)
    asked: list[ImagePart] = []

    async def ask(image: ImagePart) -> str:
        asked.append(image)
        return "a cat"

    with pytest.raises(PromptError) as problem:
        await told_in_words(user("no picture at all"), prompts, describe=ask)
    assert said in str(problem.value)
    assert str(path) in str(problem.value)
    assert asked == []


@pytest.mark.parametrize("wrong", ["stt_template", "image_description_template"])
async def test_a_wrong_template_is_no_matter_of_those_who_do_not_use_it(
    tmp_path: Path, wrong: str
) -> None:
    (tmp_path / f"core.prompt.{wrong}.md").write_text("{nothing}", encoding="utf-8")
    prompts = PromptRegistry(PROMPTS.packaged, tmp_path)
    if wrong == "stt_template":
        told = await told_in_words(user(PICTURE), prompts, describe=describe)
    else:
        told = await told_in_words(user(openai_audio()), prompts, transcribe=transcribe)
    assert "a cat" in told.text or "hello (audio/wav)" in told.text
