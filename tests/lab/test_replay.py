"""Recorded HTTP answers the very request that it was recorded for, and says what differs else."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach import Settings, build_kernel
from freya_teach.errors import ConfigError, FreyaError
from freya_teach.lab.recording import load_recording
from freya_teach.lab.replay import ReplayMismatch, Scenario
from tests.lab.exchanges import URL, exchange, written
from tests.wire_answers import openai_answer


def scenario(folder: Path, *exchanges: Any) -> Scenario:
    """Write recordings and open them as a scenario."""
    return Scenario("made-up", [load_recording(path) for path in written(folder, *exchanges)])


async def asked(http: httpx.AsyncClient, body: Any, url: str = URL, method: str = "POST") -> Any:
    """Send JSON and read JSON."""
    return (await http.request(method, url, json=body)).json()


async def missed(http: httpx.AsyncClient, *args: Any, **kwargs: Any) -> str:
    """Send a request that nothing answers, for the explanation."""
    with pytest.raises(ReplayMismatch) as problem:
        await http.request(*args, **kwargs)
    return str(problem.value)


# ---- what matches --------------------------------------------------------------------------


async def test_a_request_is_found_by_its_body_whatever_the_order_of_its_keys(
    tmp_path: Path,
) -> None:
    opened = scenario(
        tmp_path,
        exchange({"q": 1, "in": {"a": 1, "b": [1, 2]}}, "data: first\n\n"),
        exchange({"q": 2}, {"answer": "second"}),
    )
    async with opened.client() as http:
        assert await asked(http, {"q": 2}) == {"answer": "second"}
        body = '\n{"in": {"b": [1,2], "a": 1},\t"q": 1}'
        response = await http.post(URL, content=body, headers={"authorization": "whatever"})
        assert response.text == "data: first\n\n"
    assert opened.unused == []


@pytest.mark.parametrize(
    "sent",
    [
        {"method": "POST", "url": URL, "json": {"q": 2}},
        {"method": "POST", "url": URL, "json": {"q": "1"}},
        {"method": "POST", "url": URL, "json": {"q": True}},
        {"method": "POST", "url": URL, "json": {"q": 1, "more": None}},
        {"method": "POST", "url": URL, "json": {}},
        {"method": "POST", "url": URL, "json": None},
        {"method": "POST", "url": URL},
        {"method": "POST", "url": URL, "content": b"null"},
        {"method": "POST", "url": URL, "content": b"no json"},
        {"method": "POST", "url": URL, "content": b"\xff"},
        {"method": "PUT", "url": URL, "json": {"q": 1}},
        {"method": "GET", "url": URL},
        {"method": "POST", "url": URL + "?alt=sse", "json": {"q": 1}},
        {"method": "POST", "url": URL + "/", "json": {"q": 1}},
        {"method": "POST", "url": URL.replace("https", "http"), "json": {"q": 1}},
        {"method": "POST", "url": URL.replace("example.org", "example.com"), "json": {"q": 1}},
    ],
    ids=lambda sent: (
        f"{sent['method']} {sent['url'][-12:]} {sent.get('json', sent.get('content'))}"
    ),
)
async def test_a_request_that_differs_in_anything_is_not_answered(
    tmp_path: Path, sent: dict[str, Any]
) -> None:
    async with scenario(tmp_path, exchange({"q": 1}, {})).client() as http:
        said = await missed(http, **sent)
    assert said.startswith("no recording of 'made-up' answers this.")


async def test_a_request_without_a_body_is_matched_by_method_and_address(tmp_path: Path) -> None:
    opened = scenario(
        tmp_path,
        exchange(
            None, {"models": []}, method="GET", url="https://api.example.org/v1/models?page=2"
        ),
        exchange(None, {"posted": True}),
    )
    async with opened.client() as http:
        for body in (b'{"a": 1}', b"no json", b"\xff"):
            assert "no recording of" in await missed(http, "POST", URL, content=body)
        response = await http.get("https://api.example.org/v1/models?page=2")
        assert response.json() == {"models": []}
        assert (await http.post(URL)).json() == {"posted": True}
        assert "page" in await missed(http, "GET", "https://api.example.org/v1/models?page=3")


async def test_equal_requests_are_answered_in_the_order_of_their_files(tmp_path: Path) -> None:
    opened = scenario(
        tmp_path,
        exchange({"q": 1}, {"n": 1}),
        exchange({"q": 2}, {"n": "other"}),
        exchange({"q": 1}, {"n": 2}),
        exchange({"q": 1}, {"n": 3}, url=URL + "?other"),
    )
    async with opened.client() as http:
        assert [await asked(http, {"q": 1}) for _ in range(2)] == [{"n": 1}, {"n": 2}]
    assert opened.unused == ["02.json", "04.json"]


async def test_requests_sent_at_the_same_time_find_their_own_answers(tmp_path: Path) -> None:
    numbers = range(20)
    opened = scenario(tmp_path, *(exchange({"q": n}, {"n": n}) for n in numbers))
    async with opened.client() as http:
        answers = await asyncio.gather(*(asked(http, {"q": n}) for n in reversed(numbers)))
    assert answers == [{"n": n} for n in reversed(numbers)]


async def test_a_new_client_starts_at_the_beginning_and_what_was_used_stays_counted(
    tmp_path: Path,
) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {"n": 1}), exchange({"q": 1}, {"n": 2}))
    for _ in range(2):
        async with opened.client() as http:
            assert await asked(http, {"q": 1}) == {"n": 1}
    assert opened.unused == ["02.json"]


async def test_two_clients_at_once_do_not_take_each_others_answers(tmp_path: Path) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {"n": 1}), exchange({"q": 1}, {"n": 2}))
    async with opened.client() as one, opened.client() as other:
        assert await asked(one, {"q": 1}) == {"n": 1}
        assert await asked(other, {"q": 1}) == {"n": 1}
        assert await asked(one, {"q": 1}) == {"n": 2}


async def test_an_error_answer_is_played_with_its_status(tmp_path: Path) -> None:
    made = exchange({"q": 1}, {"error": {"message": "no"}})
    made["response"]["status"] = 400
    async with scenario(tmp_path, made).client() as http:
        response = await http.post(URL, json={"q": 1})
    assert (response.status_code, response.json()) == (400, {"error": {"message": "no"}})


# ---- what a miss says ----------------------------------------------------------------------


async def test_a_miss_says_in_three_lines_what_differs_and_how_to_go_on(tmp_path: Path) -> None:
    recorded = {"model": "m", "messages": [{"role": "user", "content": "Hi?"}], "n": 1}
    async with scenario(tmp_path, exchange(recorded, {})).client() as http:
        said = await missed(http, "POST", URL, json={**recorded, "n": 2, "stream": True})
    assert said.splitlines() == [
        "no recording of 'made-up' answers this. The nearest, 01.json, differs in 2 places:",
        "  body.n: recorded 1, sent 2",
        (
            'Undo the change, or write "gateway" for "made-up": then rules answer. '
            "(All that differs: lab.diff())"
        ),
    ]


async def test_a_miss_holds_both_requests_for_whoever_wants_to_compare_them(
    tmp_path: Path,
) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {}))
    async with opened.client() as http:
        await missed(http, "POST", URL, json={"q": 2})
    (problem,) = opened.mismatches
    assert problem.recorded == {"method": "POST", "url": URL, "body": {"q": 1}}
    assert problem.sent == {"method": "POST", "url": URL, "body": {"q": 2}}


async def test_a_miss_is_compared_with_the_exchange_that_is_nearest(tmp_path: Path) -> None:
    far, near = {"messages": ["a", "b", "c"], "n": 1}, {"messages": ["x"], "n": 1}
    async with scenario(tmp_path, exchange(far, {}), exchange(near, {})).client() as http:
        said = await missed(http, "POST", URL, json={"messages": ["y"], "n": 1})
    assert 'nearest, 02.json, differs in one place:\n  body.messages[0]: recorded "x"' in said


async def test_of_equally_near_ones_it_is_the_first_that_is_left(tmp_path: Path) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {}), exchange({"q": 2}, {}))
    async with opened.client() as http:
        await asked(http, {"q": 1})
        said = await missed(http, "POST", URL, json={"q": 3})
        assert "nearest, 02.json," in said
        await asked(http, {"q": 2})
        assert "nearest, 01.json," in await missed(http, "POST", URL, json={"q": 3})


async def test_asking_once_more_than_was_recorded_is_told_so(tmp_path: Path) -> None:
    async with scenario(tmp_path, exchange({"q": 1}, {})).client() as http:
        await asked(http, {"q": 1})
        said = await missed(http, "POST", URL, json={"q": 1})
    assert said == (
        "scenario 'made-up': this very request was recorded, but has been sent more often than it "
        "was recorded. Make a new client to start from the beginning."
    )


# ---- a miss is not mistaken for anything else ----------------------------------------------


def test_a_miss_is_no_error_that_anybody_would_handle() -> None:
    assert not issubclass(ReplayMismatch, FreyaError | httpx.HTTPError | OSError | RuntimeError)


@pytest.mark.parametrize("stream", [False, True])
async def test_the_kernel_lets_a_miss_through_as_it_is(tmp_path: Path, *, stream: bool) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {}))
    settings = Settings(base_url="https://api.example.org", stream=stream)
    agent = build_kernel(settings, opened.client()).agent()
    with pytest.raises(ReplayMismatch, match="no recording of"):
        await agent.run("Hi?")
    assert len(opened.mismatches) == 1


async def test_a_whole_run_of_an_agent_can_be_played(tmp_path: Path) -> None:
    answer = json.loads(openai_answer("Hello.").content)
    sent = {"model": "m", "messages": [{"role": "user", "content": "Hi?"}]}
    opened = scenario(tmp_path, exchange(sent, answer))
    settings = Settings(base_url="https://api.example.org", model="m")
    agent = build_kernel(settings, opened.client()).agent(instructions="")
    assert str(await agent.run("Hi?")) == "Hello."
    assert opened.unused == []


# ---- opening -------------------------------------------------------------------------------


def test_an_unknown_scenario_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(ConfigError) as problem:
        Scenario.load("2.3", "wether-openai")
    assert "no recordings called 'wether-openai' in section 2.3; there are: " in str(problem.value)
    assert "weather-openai, weather-openai-stream" in str(problem.value)


def test_an_unknown_section_has_none() -> None:
    with pytest.raises(ConfigError, match=r"in section 99\.9; there are: none"):
        Scenario.load("99.9", "weather-openai")


def test_the_files_of_a_scenario_are_read_in_order() -> None:
    names = [recording.path.name for recording in Scenario.load("2.3", "weather-openai").recordings]
    assert names == ["01.json", "02.json"]
