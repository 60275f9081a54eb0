"""The file tools as a model calls them: through the runner, with JSON arguments."""

import json
from pathlib import Path
from typing import Any

import pytest

from freya_teach import Ambient, Settings, ToolRegistry
from freya_teach.errors import ToolError
from freya_teach.llm.messages import ToolCall
from freya_teach.tools import files
from freya_teach.tools.context import CancelToken, ToolContext
from freya_teach.tools.files import file_tools
from freya_teach.tools.runner import ToolResult, ToolRunner
from freya_teach.tools.workspace import Workspace


async def call(workspace: Workspace | None, name: str, **arguments: Any) -> ToolResult:
    """Let a model make one call."""
    runner = ToolRunner(Settings(), Ambient(), workspace=workspace)
    made = ToolCall("call_1", name, json.dumps(arguments))
    return await runner.run(made, ToolRegistry(file_tools()).active(), "session_1")


async def test_a_model_writes_finds_and_reads_a_file(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for name, arguments, expected in [
        ("write_file", {"path": "notes/a.txt", "text": "one\ntwo\n"}, "Wrote 'notes/a.txt' (lines"),
        ("list_dir", {}, "[. (entries: 1)]\nnotes/"),
        ("search_text", {"query": "two"}, "notes/a.txt:2: two"),
        ("read_file", {"path": "notes/a.txt", "start_line": 2}, "[notes/a.txt: lines 2-2 of 2]\n"),
    ]:
        result = await call(workspace, name, **arguments)
        assert not result.is_error
        assert expected in result.text


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("read_file", {"path": "../x"}, "is refused, because it goes up with '..'"),
        ("read_file", {"path": "x", "scope": "home"}, "scope: "),
        ("read_file", {"path": "x", "scope": "src"}, "There is no scope 'src'. Scopes: workspace."),
        ("read_file", {"path": "x", "start_line": 0}, "start_line: "),
        ("read_file", {"path": "x", "context": None}, "context"),
        ("list_dir", {"path": "/"}, "begins with /"),
        ("search_text", {"query": "("}, "There is nothing at 'x'"),
        ("search_text", {"query": "(", "regex": True}, "unclosed group"),
        ("write_file", {"path": "a", "text": "x"}, "exists already"),
        ("write_file", {"path": "a", "text": "x", "scope": "src"}, "scope"),
    ],
)
async def test_a_refused_call_is_a_failed_one_whose_text_says_what_to_do(
    name: str, arguments: dict[str, Any], why: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text("mine")
    if name == "search_text":
        arguments = {"path": "x", **arguments}
    result = await call(Workspace(tmp_path), name, **arguments)
    assert result.is_error
    assert why in result.text
    assert str(tmp_path) not in result.text
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("made", file_tools(), ids=lambda made: made.name)
async def test_without_a_workspace_the_model_is_told_that_there_are_no_files(made: Any) -> None:
    given = {"path": "x", "query": "x", "text": "x"}
    arguments = {name: given[name] for name in made.parameters["properties"] if name in given}
    result = await call(None, made.name, **arguments)
    assert result.is_error
    assert result.text == "This session has no workspace, so there are no files. Go on without."


@pytest.mark.parametrize("made", file_tools(), ids=lambda made: made.name)
def test_every_argument_is_described_and_the_context_is_none_of_them(made: Any) -> None:
    assert made.description
    for name, schema in made.parameters["properties"].items():
        assert name != "context"
        assert len(schema["description"]) > 30
        if name not in made.parameters.get("required", ()):
            assert "Without it" in schema["description"] or name == "encoding"


def test_a_reading_and_a_search_end_when_the_call_is_cancelled(tmp_path: Path) -> None:
    workspace, cancel = Workspace(tmp_path), CancelToken()
    workspace.write("a.txt", "needle\n")
    context = ToolContext("call_1", "session_1", workspace=workspace, cancel=cancel)
    cancel.cancel()
    with pytest.raises(ToolError, match="took too long"):
        files.read_file("a.txt", context=context)
    assert "ended early" in files.search_text("needle", context=context)


def test_a_reading_and_a_search_end_when_their_time_is_up(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.write("a.txt", "needle\n")
    clock = iter([0.0, files.SECONDS, 0.0, files.SECONDS])
    ambient = Ambient(monotonic=lambda: next(clock))
    context = ToolContext("call_1", "session_1", workspace=workspace, ambient=ambient)
    with pytest.raises(ToolError, match="took too long"):
        files.read_file("a.txt", context=context)
    assert "the time was up" in files.search_text("needle", context=context)


async def test_a_full_answer_fits_into_an_observation(tmp_path: Path) -> None:
    """Else it would be cut in its middle, or saved as a file again."""
    workspace = Workspace(tmp_path)
    (tmp_path / "long.txt").write_text("word " * 50 + "\n" + "needle and more words\n" * 5_000)
    for name, arguments in [
        ("read_file", {"path": "long.txt"}),
        ("search_text", {"query": "needle"}),
    ]:
        result = await call(workspace, name, **arguments)
        assert "left out ..." not in result.text
        assert 1_000 < len(result.text) < Settings().max_observation_chars
