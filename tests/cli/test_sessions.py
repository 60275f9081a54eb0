"""`freya-teach sessions`: list, show, export, repair."""

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, tzinfo
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from typer.testing import CliRunner

from freya_teach import Ambient, Session, SessionManager
from freya_teach.cli.main import build_app
from freya_teach.llm import gemini_messages, openai_messages, transcript
from freya_teach.llm.messages import (
    ImagePart,
    Message,
    OpaquePart,
    ProviderData,
    ReasoningPart,
    ToolCall,
    ToolMessage,
    assistant,
    system,
    user,
)
from freya_teach.session.message_json import message_from_json
from tests.session.places import NEEDS_RIGHTS

TALK: tuple[Message, ...] = (
    user("What is 1 + 2?\nBe [bold]brief[/bold].", ImagePart("image/png", b"\x89PNG")),
    assistant(ReasoningPart("Easy."), ToolCall("c1", "add", '{"a": 1, "b": 2}')),
    ToolMessage("c1", "3"),
    assistant("It is **3**."),
)
HALF = TALK[:2]
HOLDER = """
import asyncio, sys
from pathlib import Path
from freya_teach import Ambient, SessionManager

async def hold():
    async with SessionManager(Path(sys.argv[1]), Ambient()) as sessions:
        print(len(await sessions.list()), flush=True)
        sys.stdin.read()

asyncio.run(hold())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sessions"


def counting() -> Ambient:
    """Counted ids, a clock that goes on by a minute each time it is asked, and a quick disk."""
    minutes, ids = count(), count(1)

    def now(zone: tzinfo) -> datetime:
        return datetime(2026, 11, 30, 12, next(minutes), tzinfo=UTC).astimezone(zone)

    return Ambient(now=now, new_id=lambda prefix: f"{prefix}_{next(ids)}", fsync=lambda _: None)


def with_sessions(folder: Path, do: Callable[[SessionManager], Awaitable[Any]]) -> Any:
    """Do something with a folder of sessions, and give it back."""

    async def inside() -> Any:
        async with SessionManager(folder, counting()) as sessions:
            return await do(sessions)

    return asyncio.run(inside())


def made(folder: Path, *talks: tuple[Message, ...]) -> None:
    """Sessions with these messages, each message a record of its own, named session_1, …"""

    async def make(sessions: SessionManager) -> None:
        for number, messages in enumerate(talks, start=1):
            session = await sessions.create(f"Talk {number}")
            for message in messages:
                await session.append(message)

    with_sessions(folder, make)


def opened(folder: Path) -> Session:
    session: Session = with_sessions(folder, lambda sessions: sessions.open("session_1"))
    return session


def journal_in(folder: Path, session_id: str = "session_1") -> Path:
    return folder / "sessions" / session_id / "journal.jsonl"


def damage(path: Path, line: int) -> bytes:
    """Change one character of a line; return the file as it is then."""
    lines = path.read_bytes().split(b"\n")
    lines[line - 1] = lines[line - 1].replace(b'"time"', b'"tIme"')
    path.write_bytes(b"\n".join(lines))
    return path.read_bytes()


def run(*words: object, answer: str | None = None, **variables: str) -> Any:
    """Run the command; no variable and no config file of this machine's user counts."""
    environment: dict[str, str | None] = {n: None for n in os.environ if n.startswith("FREYA_")}
    environment |= {"FREYA_TIME_ZONE": "UTC", "FREYA_CONFIG_FILE": os.devnull, **variables}
    command = ["sessions", *map(str, words)]
    return CliRunner().invoke(build_app(), command, env=environment, input=answer)


def everything_below(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- list -----------------------------------------------------------------------------------


def test_the_list_has_a_line_for_each_session_the_latest_first(folder: Path) -> None:
    made(folder, TALK, (user("Hello"),))
    listed = run("list", "--folder", folder)
    assert (listed.exit_code, listed.stderr) == (0, "")
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert rows[0] == ["id", "updated", "messages", "tokens", "model", "title"]
    assert [row[0] for row in rows[1:]] == ["session_2", "session_1"]
    assert rows[2][1:4] == ["2026-11-30", rows[2][2], "4"]
    assert rows[2][-2:] == ["Talk", "1"]
    assert listed.stdout == run("list", FREYA_SESSION_DIR=str(folder)).stdout


def test_archived_sessions_are_listed_when_asked_for(folder: Path) -> None:
    made(folder, (), ())
    with_sessions(folder, lambda sessions: sessions.archive("session_1"))

    def ids(*flags: str) -> set[str]:
        lines = run("list", "--folder", folder, "--json", *flags).stdout.splitlines()
        return {json.loads(line)["id"] for line in lines}

    assert [ids(), ids("--archived")] == [{"session_2"}, {"session_1"}]
    assert ids("--all") == {"session_1", "session_2"}
    assert "Talk 1  [archived]\n" in run("list", "--all", "--folder", folder).stdout


def test_a_session_that_was_cut_off_is_marked_and_explained(folder: Path) -> None:
    made(folder, TALK, HALF)
    told = run("list", "--folder", folder).stdout
    assert "Talk 2  [cut off]\n" in told
    assert told.count("[cut off]") == 1
    assert "its next run gives that call an error as its result" in told
    found = run("list", "--folder", folder, "--json").stdout.splitlines()
    assert [json.loads(line)["cut_off"] for line in found] == [True, False]


def test_only_the_latest_are_listed_and_the_rest_is_counted(folder: Path) -> None:
    made(folder, *[()] * 3)
    told = run("list", "-n", 1, "--folder", folder).stdout
    assert "session_3" in told
    assert "session_2" not in told
    assert "… and 2 more" in told


def test_a_damaged_session_is_listed_beside_the_others_with_what_to_do(folder: Path) -> None:
    made(folder, TALK, TALK)
    damage(journal_in(folder), 3)
    listed = run("list", "--folder", folder)
    assert listed.exit_code == 0
    assert "Talk 1  [unusable]" in listed.stdout
    assert f"session_1: {journal_in(folder)}, line 3, is damaged" in listed.stdout
    assert "`freya-teach sessions repair session_1` keeps what comes before." in listed.stdout


def test_a_title_cannot_break_the_list_or_the_terminal(folder: Path) -> None:
    with_sessions(folder, lambda sessions: sessions.create("[red]one\ntwo\x1b[2J" + "x" * 100))
    told = run("list", "--folder", folder).stdout
    assert "[red]one two" in told
    assert "\x1b" not in told
    assert len(told.splitlines()) == 2


def test_an_empty_folder_says_so(folder: Path) -> None:
    made(folder)
    assert run("list", "--folder", folder).stdout == f"{folder} has none to list.\n"


# ---- where and which ------------------------------------------------------------------------


BEFORE_THE_FIRST_CHAT = (
    "There are no conversations yet. `freya-teach chat` begins one, and keeps it in {folder}; "
    "--folder looks somewhere else.\n"
)


def test_before_the_first_chat_the_list_says_how_one_begins_and_where_it_will_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "data")
    config = tmp_path / "config.toml"
    config.write_text(f"session_dir = {json.dumps(str(tmp_path / 'of-the-file'))}")
    for place, variables in {
        tmp_path / "data" / "sessions": {},
        tmp_path / "of-the-file": {"FREYA_CONFIG_FILE": str(config)},
        tmp_path / "mine": {"FREYA_SESSION_DIR": str(tmp_path / "mine")},
    }.items():
        told = run("list", **variables)
        assert (told.exit_code, told.stderr) == (0, "")
        assert told.stdout == BEFORE_THE_FIRST_CHAT.format(folder=place)
        as_json = run("list", "--json", **variables)
        assert (as_json.exit_code, as_json.stdout) == (0, "")
    assert list(tmp_path.iterdir()) == [config]


def test_a_chat_in_which_nothing_was_asked_leaves_no_conversation_to_list(folder: Path) -> None:
    made(folder)
    told = run("list", FREYA_SESSION_DIR=str(folder))
    assert told.stdout == BEFORE_THE_FIRST_CHAT.format(folder=folder)


def test_the_list_is_of_the_folder_that_the_config_file_names(folder: Path, tmp_path: Path) -> None:
    made(folder, TALK)
    config = tmp_path / "config.toml"
    config.write_text(f"session_dir = {json.dumps(str(folder))}")
    assert "session_1" in run("list", FREYA_CONFIG_FILE=str(config)).stdout


@pytest.mark.parametrize("words", [["show", "x"], ["export", "x"], ["repair", "x", "--yes"]])
def test_before_the_first_chat_no_session_is_found_and_no_folder_made(
    tmp_path: Path, words: list[str]
) -> None:
    told = run(*words, FREYA_SESSION_DIR=str(tmp_path / "mine"))
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr == BEFORE_THE_FIRST_CHAT.format(folder=tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["list"], ["show", "x"], ["export", "x"], ["repair", "x", "--yes"]]
)
def test_a_folder_that_is_named_has_to_hold_sessions_and_is_not_made(
    tmp_path: Path, words: list[str]
) -> None:
    typo = run(*words, "--folder", tmp_path / "typo")
    assert (typo.exit_code, typo.stdout) == (1, "")
    assert f"There is no folder {tmp_path / 'typo'}." in typo.stderr
    other = run(*words, "--folder", tmp_path)
    assert other.exit_code == 1
    assert f"{tmp_path} holds no sessions" in other.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["session_11", "11", "session_2", "2"])
def test_an_id_may_be_given_by_its_beginning(folder: Path, given: str) -> None:
    made(folder, *[()] * 11)
    shown = run("show", given, "--folder", folder)
    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"── session_{given.removeprefix('session_')}  Talk")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("session", "11 sessions begin with 'session': session_1, session_10, session_11, …"),
        ("sesion_2", "There is no session 'sesion_2' in {folder}. Did you mean session_2"),
        ("../../etc", "There is no session '../../etc' in {folder}. `sessions list --all` has"),
        ("", "There is no session '' in {folder}."),
    ],
)
@pytest.mark.parametrize("command", ["show", "export", "repair"])
def test_an_id_that_is_not_clear_is_refused_with_those_that_come_close(
    folder: Path, command: str, given: str, hint: str
) -> None:
    made(folder, *[()] * 11)
    told = run(command, given, "--folder", folder)
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr.startswith(hint.format(folder=folder))


# ---- show -----------------------------------------------------------------------------------


def test_a_conversation_is_shown_message_by_message(folder: Path) -> None:
    made(folder, TALK)

    async def use(sessions: SessionManager) -> None:
        session = await sessions.open("session_1")
        session.use_model("openai/m")
        session.activate_skill("poet")

    with_sessions(folder, use)
    shown = run("show", "session_1", "--folder", folder)
    assert (shown.exit_code, shown.stderr) == (0, "")
    head, conversation = shown.stdout.split("\n\n")
    assert head.splitlines()[0] == "── session_1  Talk 1"
    assert head.splitlines()[2:] == ["Model: openai/m", "Toolboxes: default", "Skill: poet"]
    assert conversation.splitlines() == [
        "    0  user: What is 1 + 2?",
        "    Be [bold]brief[/bold].",
        "       user image: image/png, 4 bytes, SHA-256 0f4636c78f65…",
        "    1  assistant thinks: Easy.",
        '       assistant calls add({"a": 1, "b": 2})  id c1',
        "    2  tool answers c1: 3",
        "    3  assistant: It is **3**.",
    ]


def test_long_arguments_are_folded_more_than_long_texts(folder: Path) -> None:
    call = ToolCall("c1", "write", json.dumps({"text": "a" * 500}))
    made(folder, (user("u" * 500), assistant(call), ToolMessage("c1", "r" * 5_000)))
    told = run("show", "session_1", "--folder", folder).stdout
    assert "u" * 500 in told
    assert "… (512 characters))  id c1" in told
    assert "a" * 200 not in told
    assert "… (5000 characters)" in told


def test_only_the_last_messages_are_shown_under_their_own_numbers(folder: Path) -> None:
    made(folder, TALK)
    told = run("show", "session_1", "--last", 2, "--folder", folder).stdout
    assert "… 2 before these\n    2  tool answers" in told
    assert "What is 1 + 2?" not in told
    assert "before these" not in run("show", "session_1", "--last", 9, "--folder", folder).stdout


def test_what_a_new_beginning_has_taken_out_is_shown_when_asked_for(folder: Path) -> None:
    made(folder, TALK)

    async def replace(sessions: SessionManager) -> None:
        session = await sessions.open("session_1")
        await session.replace(2, [system("1 + 2 was asked")], revision=0)

    with_sessions(folder, replace)
    told = run("show", "session_1", "--folder", folder).stdout
    assert "    2  system: 1 + 2 was asked\n    3  assistant: It is **3**." in told
    assert "What is 1 + 2?" not in told
    told = run("show", "session_1", "--folder", folder, "--snapshots").stdout
    removed, now = told.split("── the history as it is now:\n")
    assert "── left the history with revision 1:\n       user: What is 1 + 2?" in removed
    assert now.startswith("    2  system")
    (snapshot,) = (journal_in(folder).parent / "snapshots").iterdir()
    damage(snapshot, 1)
    told = run("show", "session_1", "--folder", folder, "--snapshots").stdout
    assert f"{snapshot}, line 1, is damaged" in told
    assert "It is **3**." in told


def test_a_session_without_messages_says_so(folder: Path) -> None:
    made(folder, ())
    assert run("show", "1", "--folder", folder).stdout.endswith("\n\nNo messages.\n")
    assert "No snapshots." in run("show", "1", "--folder", folder, "--snapshots").stdout


def test_a_torn_end_is_told_and_left_for_the_next_program(folder: Path) -> None:
    made(folder, TALK)
    whole = journal_in(folder).read_bytes()
    journal_in(folder).write_bytes(whole[:-10])
    before = everything_below(folder)
    shown = run("show", "session_1", "--folder", folder)
    assert shown.exit_code == 0
    assert "torn: the last" in shown.stdout
    assert "tool answers c1: 3" in shown.stdout
    assert "It is **3**." not in shown.stdout
    assert everything_below(folder) == before


def test_a_session_that_was_cut_off_is_shown_as_it_is(folder: Path) -> None:
    made(folder, HALF)
    told = run("show", "session_1", "--folder", folder).stdout
    assert "cut off: the history ends with a call that has no result" in told
    assert "calls add(" in told


@pytest.mark.parametrize("command", ["show", "export"])
def test_a_damaged_session_is_refused_with_file_line_and_what_to_do(
    folder: Path, command: str
) -> None:
    made(folder, TALK)
    damage(journal_in(folder), 3)
    before = everything_below(folder)
    told = run(command, "session_1", "--folder", folder)
    assert (told.exit_code, told.stdout) == (1, "")
    assert f"{journal_in(folder)}, line 3, is damaged: it does not fit its checksum" in told.stderr
    assert f'  freya-teach sessions repair session_1 --folder "{folder}"\n' in told.stderr
    assert everything_below(folder) == before


def test_a_session_of_a_newer_version_and_a_lost_journal_are_told_in_words(
    folder: Path,
) -> None:
    made(folder, (), ())
    body = b'{"v":2}'
    journal_in(folder).write_bytes(b'{"crc":"%08x","record":%b}\n' % (crc32(body), body))
    journal_in(folder, "session_2").unlink()
    newer, lost = (run("show", name, "--folder", folder) for name in ("session_1", "session_2"))
    assert (newer.exit_code, lost.exit_code) == (1, 1)
    assert "written in format 2" in newer.stderr
    assert f"{journal_in(folder, 'session_2')} cannot be read: " in lost.stderr
    assert run("list", "--folder", folder).stdout.count("[unusable]") == 2


# ---- export ---------------------------------------------------------------------------------


def test_as_json_nothing_is_missing(folder: Path) -> None:
    made(folder, TALK)
    exported = json.loads(run("export", "session_1", "--folder", folder).stdout)
    assert tuple(map(message_from_json, exported["messages"])) == TALK
    assert (exported["v"], exported["id"], exported["title"]) == (1, "session_1", "Talk 1")
    assert (exported["first"], exported["revision"]) == (0, 0)


@pytest.mark.parametrize("form", ["openai", "gemini"])
def test_in_a_providers_form_it_can_be_read_back(folder: Path, form: str) -> None:
    made(folder, (system("Be brief."), *TALK))
    done = run("export", "session_1", "--format", form, "--folder", folder)
    assert (done.exit_code, done.stderr) == (0, "")
    body = json.loads(done.stdout)
    assert set(body) == {"openai": {"messages"}, "gemini": {"systemInstruction", "contents"}}[form]
    read = {"openai": openai_messages, "gemini": gemini_messages}[form].read_request(body).messages
    assert [m.role for m in read] == ["system", "user", "assistant", "tool", "assistant"]
    assert read[1] == TALK[0]
    assert [m.text for m in read] == [m.text for m in (system("Be brief."), *TALK)]


@pytest.mark.parametrize("form", ["openai", "gemini"])
def test_for_a_provider_a_call_that_was_cut_off_gets_its_result_and_a_note(
    folder: Path, form: str
) -> None:
    made(folder, HALF)
    done = run("export", "session_1", "--format", form, "--folder", folder)
    read = {"openai": openai_messages, "gemini": gemini_messages}[form].read_request(
        json.loads(done.stdout)
    )
    transcript.check(read.messages)
    assert read.messages[-1].text == transcript.LOST_RESULT
    assert done.stderr.startswith("cut off: ")
    assert opened(folder).was_cut_off  # the session itself stands as before


@pytest.mark.parametrize(("form", "empty"), [("openai", "messages"), ("gemini", "contents")])
def test_an_empty_conversation_is_exported_empty(folder: Path, form: str, empty: str) -> None:
    made(folder, ())
    done = run("export", "session_1", "--format", form, "--folder", folder)
    assert json.loads(done.stdout) == {empty: []}


def test_what_a_provider_cannot_carry_is_told(folder: Path) -> None:
    audio = OpaquePart("input_audio", ProviderData("openai", {"type": "input_audio"}))
    made(folder, (user(audio),))
    done = run("export", "session_1", "--format", "gemini", "--folder", folder)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "gemini has no place for a part of type 'input_audio'" in done.stderr


def test_as_markdown_it_is_a_page_to_read(folder: Path) -> None:
    call = ToolCall("c1", "run", '{"code": "```"}')
    made(folder, (*TALK[:1], assistant(call), ToolMessage("c1", "no\n````", is_error=True)))
    page = run("export", "session_1", "--format", "markdown", "--folder", folder).stdout
    assert page.startswith("# Talk 1\n\nsession_1, 3 messages, last changed 2026-11-30T12:")
    assert "\n\n## 0 · user\n\nWhat is 1 + 2?\nBe [bold]brief[/bold].\n\nImage: image/png," in page
    assert 'Calls `run` (`c1`):\n\n````json\n{"code": "```"}\n````\n' in page
    assert page.endswith("Error for `c1`:\n\n`````\nno\n````\n`````\n")


def test_a_file_is_written_privately_and_never_over_another(folder: Path) -> None:
    made(folder, TALK)
    path = folder.parent / "talk.json"
    command = ["export", "session_1", "--folder", folder, "--to", path]
    done = run(*command)
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    assert path.read_text(encoding="utf-8") == run(*command[:-2]).stdout
    path.write_text("mine", encoding="utf-8")
    refused = run(*command)
    assert refused.exit_code == 1
    assert f"{path} is there already, and stays as it is. --force" in refused.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert run(*command, "--force").exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["id"] == "session_1"


@NEEDS_RIGHTS
def test_an_exported_file_is_private(folder: Path) -> None:
    made(folder, TALK)
    path = folder.parent / "talk.json"
    for force in ([], ["--force"]):
        run("export", "session_1", "--folder", folder, "--to", path, *force)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_is_told(folder: Path) -> None:
    made(folder, TALK)
    for force in ([], ["--force"]):
        path = folder.parent / "nowhere" / "talk.json"
        done = run("export", "session_1", "--folder", folder, "--to", path, *force)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"{path} cannot be written: ")


# ---- repair ---------------------------------------------------------------------------------


def test_a_repair_says_what_is_lost_asks_and_keeps_a_copy(folder: Path) -> None:
    made(folder, TALK)
    damaged = damage(journal_in(folder), 3)
    for answer in ("n\n", ""):  # "" is the end of the input: nobody is there to answer
        refused = run("repair", "session_1", "--folder", folder, answer=answer)
        assert refused.exit_code == 1
        assert journal_in(folder).read_bytes() == damaged
    done = run("repair", "session_1", "--folder", folder, answer="y\n")
    assert done.exit_code == 0
    assert f"{journal_in(folder)}, line 3, is damaged" in done.stdout
    assert "Kept: what comes before (records: 2, messages: 1)." in done.stdout
    size = len(b"\n".join(damaged.split(b"\n")[2:]))
    assert (
        f"Lost: lines 3 to 5 (bytes: {size:,}, messages that can still be read behind the"
        in done.stdout
    )
    assert "behind the damage: 2)." in done.stdout
    (copy,) = journal_in(folder).parent.glob("journal.damaged-*.jsonl")
    assert str(copy) in done.stdout
    assert copy.read_bytes() == damaged
    assert opened(folder).messages == TALK[:1]
    assert "[unusable]" not in run("list", "--folder", folder).stdout


@pytest.mark.parametrize("line", [1, 5])
def test_a_repair_need_not_ask(folder: Path, line: int) -> None:
    made(folder, TALK)
    damage(journal_in(folder), line)
    assert run("repair", "session_1", "--folder", folder, "--yes").exit_code == 0
    assert opened(folder).messages == (TALK[:3] if line == 5 else ())


def test_what_needs_no_repair_is_told_so(folder: Path) -> None:
    made(folder, TALK, HALF, TALK)
    journal_in(folder, "session_3").write_bytes(journal_in(folder, "session_3").read_bytes()[:-1])
    before = [journal_in(folder, f"session_{n}").read_bytes() for n in (1, 2, 3)]
    whole, cut_off, torn = (run("repair", f"session_{n}", "--folder", folder) for n in (1, 2, 3))
    assert whole.stdout == "session_1 is not damaged: nothing to repair.\n"
    assert "not damaged: nothing to repair.\ncut off: " in cut_off.stdout
    assert "not damaged: nothing to repair.\ntorn: " in torn.stdout
    assert [journal_in(folder, f"session_{n}").read_bytes() for n in (1, 2, 3)] == before


# ---- beside another process ------------------------------------------------------------------


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a process that has the folder."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as started:
        yield started


def test_while_another_process_has_the_folder_it_can_be_read_but_not_repaired(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    made(folder, TALK, TALK)
    damaged = damage(journal_in(folder, "session_2"), 3)
    holder: subprocess.Popen[str] = request.getfixturevalue("holder")
    assert holder.stdout
    assert holder.stdout.readline() == "2\n"
    before = everything_below(folder)
    assert "Talk 1" in run("list", "--folder", folder).stdout
    assert "It is **3**." in run("show", "session_1", "--folder", folder).stdout
    assert run("export", "session_1", "--folder", folder).exit_code == 0
    refused = run("repair", "session_2", "--folder", folder, "--yes")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"are in use by process {holder.pid} on " in refused.stderr
    assert journal_in(folder, "session_2").read_bytes() == damaged
    assert everything_below(folder) == before


def test_the_command_as_a_program_repairs_and_exports(folder: Path) -> None:
    made(folder, (user("Grüße 你好"), *TALK[1:]))
    damage(journal_in(folder), 5)
    environment = {n: v for n, v in os.environ.items() if not n.startswith("FREYA_")}
    environment |= {"FREYA_SESSION_DIR": str(folder), "PYTHONIOENCODING": "ascii"}

    def program(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "freya_teach.cli", "sessions", *words]
        return subprocess.run(command, capture_output=True, check=False, env=environment, input=b"")

    assert program("repair", "session_1", "--yes").returncode == 0
    exported = program("export", "session_1")
    assert message_from_json(json.loads(exported.stdout)["messages"][0]) == user("Grüße 你好")
