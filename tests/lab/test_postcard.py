"""The invented third wire: what its server refuses, and that a kernel can live on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given

from freya_teach import Kernel, Settings, build_kernel
from freya_teach.config import RouteSettings
from freya_teach.errors import ServerFailed
from freya_teach.events import TextDelta
from freya_teach.lab.exercises.answers_9_1 import Postcard, librarian, library_tools
from freya_teach.lab.exercises.lending import own_or_lent
from freya_teach.lab.gateway import answer, gateway
from freya_teach.lab.lesson import frozen_ambient
from freya_teach.lab.policy import assistant
from freya_teach.lab.postcard import ADDRESS, MODEL, PostOffice
from freya_teach.lab.sample_tools import calculate, get_current_weather
from freya_teach.llm.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from freya_teach.llm.protocol import Adapter, ModelRequest, Route
from tests.strategies import valid_histories

QUESTION = "What is the weather in Beijing today, and how much is 15 * 8?"
URL = f"{ADDRESS}/v1/cards"
KEY = {"x-api-key": "no-key-needed"}
ROUTE = Route("postcard", MODEL, ADDRESS, "no-key-needed")
ADAPTER = Adapter("postcard", Postcard.build_request, Postcard.parse_chunk)
Body = dict[str, Any]


def kernel(http: httpx.AsyncClient, **settings: Any) -> Kernel:
    own = {"provider": "postcard", "model": MODEL, "base_url": ADDRESS, "api_key": "no-key-needed"}
    chosen = Settings.model_validate({**own, "retry_seconds": 0, **settings})
    return build_kernel(chosen, http, frozen_ambient(), adapters={"postcard": ADAPTER})


def good_body() -> Body:
    """Two calls, both answered, and a word after them."""
    calls = [{"call": {"ticket": f"t{n}", "name": "sum", "with": {"n": n}}} for n in (1, 2)]
    results = [{"result": {"ticket": f"t{n}", "text": "", "ok": True}} for n in (2, 1)]
    return {
        "model": "m",
        "brief": "Be brief.",
        "room": 9,
        "stream": False,
        "tools": [{"name": "sum", "about": "Add.", "takes": {"type": "object"}}],
        "cards": [
            {"from": "guest", "lines": [{"text": "?"}]},
            {"from": "host", "lines": [{"text": "!"}, *calls]},
            {"from": "guest", "lines": [*results, {"text": "Sure?"}]},
        ],
    }


async def post(body: Any, url: str = URL, headers: dict[str, str] = KEY) -> httpx.Response:
    async with PostOffice(lambda _: answer("Yes, of course.")).client() as http:
        return await http.post(url, json=body, headers=headers)


# ---- the server ----------------------------------------------------------------------------


async def test_a_body_that_keeps_every_rule_is_answered() -> None:
    response = await post(good_body())
    assert response.status_code == 200
    assert response.json()["card"] == {"from": "host", "lines": [{"text": "Yes, of course."}]}
    assert response.json()["end"] == "said"


async def test_an_answer_that_is_longer_than_the_room_is_cut_and_says_so() -> None:
    response = await post(good_body() | {"room": 1})
    assert (response.json()["card"]["lines"], response.json()["end"]) == (
        [{"text": "Yes,"}],
        "full",
    )


def at(*path: Any, value: Any) -> Callable[[Body], None]:
    """Put a value somewhere into the good body."""

    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = value

    return change


def line(card: int, number: int, *path: Any, value: Any) -> Callable[[Body], None]:
    return at("cards", card, "lines", number, *path, value=value)


RESULT = {"result": {"ticket": "t1", "text": "", "ok": True}}
CALL = {"call": {"ticket": "t9", "name": "sum", "with": {}}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (at("messages", value=[]), "the field 'messages' is unknown; there are brief, cards"),
        (at("model", value=""), "model: send a text that is not empty"),
        (at("brief", value=["Be brief."]), "brief: send a text"),
        (at("room", value=True), "room: how many tokens"),
        (at("stream", value="yes"), "stream: send true or false"),
        (at("tools", value=[]), "tools: send a list with at least one entry"),
        (at("tools", 0, "about", value=""), "tools[0].about"),
        (at("tools", 0, "takes", value="{}"), "tools[0].takes: send an object"),
        (at("cards", value=[]), "cards: send a list"),
        (at("cards", 0, "from", value="user"), "cards[0].from: 'user' is nobody"),
        (at("cards", 1, "from", value="guest"), "cards[1] is from the guest, and it is the host's"),
        (lambda body: body["cards"].pop(), "the last card is the host's"),
        (at("cards", 0, "lines", value=[]), "cards[0].lines: send a list"),
        (line(0, 0, value={"text": "a", "ok": 1}), "a line is one of call, result, text"),
        (line(0, 0, value=CALL), "a call stands on a card of the host"),
        (line(1, 0, value=RESULT), "a result stands on a card of the guest"),
        (line(1, 1, "call", "with", value="{}"), "with is a text; send the object"),
        (line(1, 1, "call", "name", value=None), "call.name: send a text"),
        (line(1, 2, "call", "ticket", value="t1"), "the ticket 't1' was used before"),
        (line(2, 0, "result", "ok", value=None), "result.ok: send true"),
        (line(2, 0, "result", "text", value=7), "result.text: send a text"),
        (line(2, 0, "result", "ticket", value="t3"), "ticket 't3', which is not open here"),
        (line(2, 0, value=RESULT), "ticket 't1', which is not open here"),
        (line(2, 0, value={"text": "first"}), "words stand before a result"),
        (lambda body: body["cards"][2]["lines"].pop(0), "result for ticket 't2' is missing"),
    ],
)
async def test_what_breaks_a_rule_is_refused_in_words(
    change: Callable[[Body], None], says: str
) -> None:
    body = good_body()
    change(body)
    response = await post(body)
    assert response.status_code == 400
    assert says in response.json()["error"]["message"]


async def test_another_address_and_a_missing_key_are_refused_as_such() -> None:
    assert (await post(good_body(), f"{ADDRESS}/v1/messages")).status_code == 404
    assert (await post(good_body(), headers={})).status_code == 401
    async with PostOffice(assistant).client() as http:
        response = await http.post(URL, content=b"{", headers=KEY)
    assert "no JSON" in response.json()["error"]["message"]


# ---- the adapter that solves the exercise --------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
async def test_the_courses_question_is_answered_over_the_third_wire(*, stream: bool) -> None:
    office = PostOffice(assistant)
    agent = kernel(office.client(), stream=stream).agent(
        [get_current_weather, calculate], instructions="Be brief."
    )
    events = [event async for event in agent.stream(QUESTION)]
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == "In Beijing: sunny, 15 °C. The calculation gives 120."
    assert (len(pieces) > 1) is stream
    assert office.bodies[1]["brief"] == "Be brief."


@given(messages=valid_histories())
async def test_every_conversation_that_is_the_hosts_to_answer_keeps_the_rules(
    messages: list[Message],
) -> None:
    """Pictures are taken out: the wire has no place for them."""
    told = [_in_words(each) for each in messages]
    heard = [each for each in told if not isinstance(each, SystemMessage)]
    if heard and isinstance(heard[-1], AssistantMessage):
        told.append(UserMessage((TextPart("Well?"),)))
    told.insert(0, UserMessage((TextPart("Hello!"),)))
    wire = Postcard.build_request(ModelRequest(tuple(told)), ROUTE)
    office = PostOffice(lambda _: answer("Yes."))
    async with office.client() as http:
        response = await http.post(wire.url, headers=dict(wire.headers), content=wire.body)
    assert response.status_code == 200, response.text
    arrived = [(said.call_id, said.text) for said in office.asked[0].said if said.role == "tool"]
    assert arrived == [(each.call_id, each.text) for each in told if isinstance(each, ToolMessage)]


def _in_words(message: Message) -> Message:
    if not isinstance(message, UserMessage):
        return message
    return UserMessage((TextPart(message.text or "…"),))


async def test_an_error_in_the_middle_of_a_stream_is_the_kernels_error() -> None:
    events = [{"line": 0, "text": "It is "}, {"error": {"code": "busy", "message": "Too busy."}}]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    answers = httpx.MockTransport(lambda _: httpx.Response(200, text=body))
    with pytest.raises(ServerFailed, match=r"Too busy\."):
        await kernel(httpx.AsyncClient(transport=answers), stream=True).agent().run("?")


# ---- everything together -------------------------------------------------------------------


async def test_a_stored_session_goes_on_elsewhere_when_the_third_wire_fails(tmp_path: Path) -> None:
    office, other = PostOffice(librarian), gateway(librarian)
    library = {name: {"title": "Moby Dick", "lent_to": lent} for name, lent in COPIES.items()}
    chosen = {"fallbacks": (RouteSettings(provider="openai"),), "session_dir": tmp_path}
    for closed, asked in ((False, 'Please borrow "Moby Dick".'), (True, "What do I have?")):
        office.closed = closed
        made = kernel(office.client(other), **chosen)
        assert made.sessions is not None
        async with made.sessions as sessions:
            known = await sessions.list()
            session = await (sessions.open(known[0].id) if known else sessions.create())
            agent = made.agent(library_tools(library), instructions="")
            result = await agent.run(asked, session=session)
            assert "Moby Dick" in result.text
            assert session.model.partition("/")[0] == ("openai" if closed else "postcard")
    assert library["b44"]["lent_to"] == session.id
    assert (len(office.asked), len(other.asked)) == (4, 2)


COPIES = {"b12": "ben", "b44": ""}


async def test_a_part_that_passes_is_used_and_any_other_is_lent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def mine(question: Any) -> Any:
        return librarian(question)

    assert await own_or_lent("9.1-c", mine) is mine
    assert await own_or_lent("9.1-c", lambda _: answer("Done.")) is librarian
    assert await own_or_lent("9.1-c", None) is librarian
    told = capsys.readouterr().out
    assert "librarian: your own\n" in told
    assert "librarian: does not pass yet; the course lends its own\n" in told
    assert "librarian: not done yet; the course lends its own\n" in told
