"""What an author may have rewritten, and what nobody may."""

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from freya_teach import paths
from freya_teach.errors import ConfigError
from freya_teach.lab.demo import ask, demo_lab, scenario_name
from freya_teach.lab.recording import load_recording
from freya_teach.lab.replay import UPDATE, ReplayMismatch, Scenario
from tests.lab.exchanges import URL, exchange, written
from tests.wire_answers import EVERY_WIRE, way_of_asking

RECORDED = {"kind": "recorded", "server": "s", "model": "m", "date": "d", "command": "c"}


@pytest.fixture
def authoring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch the authors' mode on."""
    monkeypatch.setenv(UPDATE, "1")


def opened(paths: list[Path]) -> Scenario:
    """Open these files as a scenario."""
    return Scenario("made-up", [load_recording(path) for path in paths])


@pytest.mark.usefixtures("authoring")
async def test_the_request_of_an_authored_exchange_becomes_what_was_sent(tmp_path: Path) -> None:
    paths = written(tmp_path, exchange({"q": "old"}, {"n": 1}), exchange({"q": "older"}, {"n": 2}))
    before = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    async with opened(paths).client() as http:
        for number in (1, 2):
            url = f"{URL}?page={number}"
            headers = {"authorization": "Bearer no-key-but-secret", "x-goog-api-key": "secret"}
            response = await http.put(url, json={"q": f"北京 {number}"}, headers=headers)
            assert response.json() == {"n": number}
    after = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    assert [data.pop("request") for data in after] == [
        {
            "method": "PUT",
            "url": f"{URL}?page={number}",
            "headers": {"content-type": "application/json"},
            "body": {"q": f"北京 {number}"},
        }
        for number in (1, 2)
    ]
    assert after == [{k: v for k, v in data.items() if k != "request"} for data in before]
    assert "北京" in paths[0].read_text(encoding="utf-8")
    assert "secret" not in paths[0].read_text(encoding="utf-8")


@pytest.mark.usefixtures("authoring")
async def test_what_was_rewritten_plays_without_the_authors_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = written(tmp_path, exchange({"q": "old"}, {"n": 1}))
    async with opened(paths).client() as http:
        await http.post(URL, json={"q": "new"})
    monkeypatch.delenv(UPDATE)
    scenario = opened(paths)
    async with scenario.client() as http:
        assert (await http.post(URL, json={"q": "new"})).json() == {"n": 1}
    assert scenario.unused == []


@pytest.mark.usefixtures("authoring")
async def test_a_recorded_exchange_is_never_touched(tmp_path: Path) -> None:
    paths = written(tmp_path, exchange({"q": "old"}, {"n": 1}, provenance=RECORDED))
    before = paths[0].read_bytes()
    async with opened(paths).client() as http:
        assert (await http.post(URL, json={"q": "new"})).json() == {"n": 1}
    assert paths[0].read_bytes() == before


@pytest.mark.usefixtures("authoring")
async def test_an_exchange_that_fits_already_is_left_as_it_is(tmp_path: Path) -> None:
    paths = written(tmp_path, exchange({"q": 1}, {"n": 1}), exchange({"q": 2}, {"n": 2}))
    before = [path.read_bytes() for path in paths]
    async with opened(paths).client() as http:
        assert (await http.post(URL, json={"q": 2})).json() == {"n": 2}
        assert (await http.post(URL, json={"q": 1})).json() == {"n": 1}
    assert [path.read_bytes() for path in paths] == before


@pytest.mark.usefixtures("authoring")
async def test_with_no_exchange_left_the_author_is_told_to_write_one(tmp_path: Path) -> None:
    paths = written(tmp_path, exchange({"q": 1}, {"n": 1}))
    async with opened(paths).client() as http:
        await http.post(URL, json={"q": "new"})
        with pytest.raises(ConfigError, match=f"no exchange is left for POST {URL}: write one"):
            await http.post(URL, json={"q": "newer"})


@pytest.mark.parametrize("value", ["", "0", "yes"])
async def test_only_a_one_switches_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(UPDATE, value)
    paths = written(tmp_path, exchange({"q": "old"}, {}))
    before = paths[0].read_bytes()
    async with opened(paths).client() as http:
        with pytest.raises(ReplayMismatch):
            await http.post(URL, json={"q": "new"})
    assert paths[0].read_bytes() == before


@pytest.mark.usefixtures("authoring")
async def test_a_streamed_answer_is_played_in_this_mode_too(tmp_path: Path) -> None:
    paths = written(tmp_path, exchange({"q": "old"}, "data: x\n\n"))
    async with opened(paths).client() as http, http.stream("POST", URL, json={}) as response:
        assert isinstance(response, httpx.Response)
        assert await response.aread() == b"data: x\n\n"


@pytest.mark.usefixtures("authoring")
@pytest.mark.parametrize("spoken", EVERY_WIRE, ids=way_of_asking)
async def test_the_courses_own_exchanges_are_rewritten_to_what_they_are_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoken: dict[str, Any]
) -> None:
    monkeypatch.delenv("FREYA_LIVE", raising=False)
    provider, stream = spoken["provider"], spoken["stream"]
    real = paths.course_folder("fixtures") / "2.3" / scenario_name(provider, stream=stream)
    copies = tmp_path / "fixtures" / "2.3" / real.name
    shutil.copytree(real, copies)
    shutil.copytree(paths.course_folder("prompts"), tmp_path / "prompts")
    for copy in copies.glob("*.json"):
        data = json.loads(copy.read_text(encoding="utf-8"))
        copy.write_text(json.dumps({**data, "request": exchange({}, {})["request"]}), "utf-8")
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "freya_teach")
    await ask(demo_lab(), provider, stream=stream)
    for file in sorted(real.glob("*.json")):
        rewritten = (copies / file.name).read_text(encoding="utf-8")
        assert json.loads(rewritten) == json.loads(file.read_text(encoding="utf-8"))
