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
from freya_teach.lab.replay import MAX_DIFF_LINES, ReplayMismatch, Scenario
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
    assert said.startswith("scenario 'made-up' has no recording of this request.\n")


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
            assert "has no recording of this" in await missed(http, "POST", URL, content=body)
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


async def test_a_miss_shows_the_lines_that_differ_and_no_others(tmp_path: Path) -> None:
    recorded = {"model": "m", "messages": [{"role": "user", "content": "Hi?"}], "n": 1}
    async with scenario(tmp_path, exchange(recorded, {})).client() as http:
        said = await missed(http, "POST", URL, json={**recorded, "n": 2, "stream": True})
    assert said.splitlines() == [
        "scenario 'made-up' has no recording of this request.",
        "What differs from 01.json (- recorded, + sent):",
        "     ],",
        '     "model": "m",',
        '-    "n": 1',
        '+    "n": 2,',
        '+    "stream": true',
        "   },",
        '   "method": "POST",',
        (
            "A recording answers only the request that it was made for: undo the change, or set "
            "FREYA_LIVE=1 and a key to ask a real model."
        ),
    ]


async def test_the_order_of_keys_is_no_difference_that_is_shown(tmp_path: Path) -> None:
    async with scenario(tmp_path, exchange({"a": 1, "b": 2, "c": 3}, {})).client() as http:
        said = await missed(http, "POST", URL, json={"c": 3, "b": 0, "a": 1})
    changed = [line for line in said.splitlines() if line.startswith(("-", "+"))]
    assert changed == ['-    "b": 2,', '+    "b": 0,']


async def test_a_change_deep_inside_a_long_prompt_is_shown(tmp_path: Path) -> None:
    prompt = "\n".join(f"Rule {n}: " + "be careful, " * 7 for n in range(30))
    recorded = {"messages": [{"role": "system", "content": prompt}]}
    changed = prompt.replace("Rule 17: be careful,", "Rule 17: be reckless,")
    async with scenario(tmp_path, exchange(recorded, {})).client() as http:
        said = await missed(
            http, "POST", URL, json={"messages": [{"role": "system", "content": changed}]}
        )
    removed = [line for line in said.splitlines() if line.startswith("-")]
    added = [line for line in said.splitlines() if line.startswith("+")]
    assert (len(removed), len(added)) == (1, 1)
    assert removed[0].startswith("-Rule 17: be careful")
    assert added[0].startswith("+Rule 17: be reckless")


async def test_a_change_at_the_end_of_one_long_line_is_shown(tmp_path: Path) -> None:
    words = " ".join(f"word{n}" for n in range(500))
    async with scenario(tmp_path, exchange({"q": words + " old"}, {})).client() as http:
        said = await missed(http, "POST", URL, json={"q": words + " new"})
    assert any(line.startswith("-") and "old" in line for line in said.splitlines())
    assert any(line.startswith("+") and "new" in line for line in said.splitlines())
    assert all(len(line) < 200 for line in said.splitlines())


async def test_a_body_that_has_nothing_in_common_is_cut_short(tmp_path: Path) -> None:
    async with scenario(tmp_path, exchange({"q": list(range(500))}, {})).client() as http:
        said = await missed(http, "POST", URL, json={"z": list(range(500, 1000))})
    assert len(said.splitlines()) <= MAX_DIFF_LINES + 5
    assert "more lines" in said


async def test_a_miss_compares_with_the_first_exchange_that_is_left(tmp_path: Path) -> None:
    opened = scenario(tmp_path, exchange({"q": 1}, {}), exchange({"q": 2}, {}))
    async with opened.client() as http:
        await asked(http, {"q": 1})
        said = await missed(http, "POST", URL, json={"q": 3})
        assert "What differs from 02.json" in said
        await asked(http, {"q": 2})
        assert "What differs from 01.json" in await missed(http, "POST", URL, json={"q": 3})


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
    with pytest.raises(ReplayMismatch, match="has no recording of this request"):
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
