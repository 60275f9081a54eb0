"""`freya-teach classroom`: logins, settings, and what is said when something is missing."""

import json
import re
import socket
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from freya_teach.cli.class_list import (
    ALPHABET,
    TEACHER,
    ListDamaged,
    enrol,
    is_right,
    names,
    new_password,
    read_list,
)
from freya_teach.cli.classroom import (
    MEGABYTES_PER_STUDENT,
    PROXY,
    find_proxy,
    logins_in_words,
    memory_in_words,
    solutions_in_words,
    what_is_missing,
)
from freya_teach.cli.hub_config import AT_ONCE, Ports, hub_config
from freya_teach.cli.main import build_app
from freya_teach.cli.student import server_command
from freya_teach.lab.exercises.shut import setting_file

run = CliRunner()
not_on_windows = pytest.mark.skipif(sys.platform == "win32", reason="JupyterHub is not for Windows")


def test_names_sort_as_they_count() -> None:
    assert names(3) == [TEACHER, "student01", "student02", "student03"]
    assert names(120)[1:] == sorted(names(120)[1:])


def test_a_password_can_be_read_from_paper() -> None:
    assert not set("il1o0") & set(ALPHABET)
    passwords = {new_password() for _ in range(50)}
    assert len(passwords) == 50
    assert all(re.fullmatch(rf"([{ALPHABET}]{{4}}-){{2}}[{ALPHABET}]{{4}}", p) for p in passwords)


def test_a_login_opens_with_its_own_password_only_and_the_file_holds_none(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    new = enrol(path, 2)
    stored = read_list(path)
    assert new.keys() == stored.keys() == {TEACHER, "student01", "student02"}
    for name in stored:
        assert [is_right(new[other], stored[name]) for other in new] == [n == name for n in new]
    text = path.read_text(encoding="utf-8")
    assert not any(password in text for password in new.values())


@not_on_windows
def test_the_file_of_logins_is_for_its_owner_alone(tmp_path: Path) -> None:
    enrol(tmp_path / "logins.json", 1)
    assert stat.S_IMODE((tmp_path / "logins.json").stat().st_mode) == 0o600


def test_who_has_a_login_keeps_it_until_new_ones_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    first = enrol(path, 2)
    assert enrol(path, 2) == {}
    assert list(enrol(path, 3)) == ["student03"]
    assert list(enrol(path, 1)) == []
    assert "student03" in read_list(path)  # a smaller class puts nobody out
    anew = enrol(path, 2, anew=True)
    assert anew.keys() == first.keys()
    assert not is_right(first["student01"], read_list(path)["student01"])


@pytest.mark.parametrize("content", ["", "[]", '{"logins": {"ann": {}}}', '{"logins": 1}'])
def test_a_damaged_file_is_named_and_left_as_it_is(content: str, tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ListDamaged, match="Move it away"):
        enrol(path, 2)
    assert path.read_text(encoding="utf-8") == content


def addresses(settings: Mapping[str, Any]) -> list[str]:
    """Every address in the settings."""
    return re.findall(r"https?://([^:/\"]+)", json.dumps(settings))


def test_everything_listens_on_this_machine_only(tmp_path: Path) -> None:
    config = hub_config(tmp_path, Ports(8000, 8001, 8002), tmp_path / PROXY)
    assert addresses(config) == ["127.0.0.1"] * 3
    assert config["JupyterHub"]["concurrent_spawn_limit"] == AT_ONCE
    assert config["ClassList"]["admin_users"] == [TEACHER]
    assert json.loads(json.dumps(config)) == config


@not_on_windows
def test_every_students_server_looks_into_one_file_whether_solutions_are_shut(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "my class"
    config = hub_config(folder, Ports(8000, 8001, 8002), tmp_path / PROXY)
    assert setting_file(config["Spawner"]["environment"]) == folder / "reveal.json"
    shut, opened = solutions_in_words(folder).splitlines()[1:]
    variable = f"FREYA_REVEAL_FILE='{folder}/reveal.json'"
    assert shut.endswith(f"{variable} freya-teach workshop --no-reveal --minutes 90")
    assert opened.endswith(f"{variable} freya-teach workshop --reveal")


def test_a_students_server_gets_the_courses_settings_and_the_hubs_arguments() -> None:
    command = server_command(Path("copy"), ["--debug"])
    assert command[:3] == [sys.executable, "-m", "jupyterhub.singleuser"]
    assert "--ServerApp.root_dir=copy" in command
    assert "--LabApp.news_url=" in command
    assert command[-1] == "--debug"
    assert not any("ServerApp.ip" in part for part in command)  # the hub says where to listen


@not_on_windows
def test_what_is_missing_is_told_with_the_command_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jupyterhub", None)
    result = run.invoke(
        build_app(), ["classroom", "--users", "2", "--dir", str(tmp_path / "class")]
    )
    assert result.exit_code == 1
    assert 'JupyterHub is not installed: pip install "freya-teach[hub]"' in result.output
    assert "Node.js is not installed" in result.output
    assert f"npm install --prefix {tmp_path / 'class'} {PROXY}" in result.output
    assert not (tmp_path / "class").exists()


@not_on_windows
def test_the_proxy_is_found_where_npm_puts_it_beside_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert find_proxy(tmp_path) is None
    program = tmp_path / "node_modules" / ".bin" / PROXY
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    assert find_proxy(tmp_path) == program
    assert not any("proxy is not installed" in line for line in what_is_missing(tmp_path))


def test_too_little_memory_is_told_and_forbids_nothing() -> None:
    needed = f"{200 + 30 * MEGABYTES_PER_STUDENT} MB for all"
    assert needed in memory_in_words(30, None)
    assert memory_in_words(30, 20_000).endswith("20000 MB are free.")
    assert "only 1000 MB are free. Servers will fail" in memory_in_words(30, 1000)


def test_logins_are_printed_when_they_are_new() -> None:
    assert "student01    abcd-efgh-jkmn" in logins_in_words({"student01": "abcd-efgh-jkmn"})
    assert "as they were" in logins_in_words({})


@not_on_windows
def test_a_port_that_is_taken_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("node", PROXY):
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("freya_teach.cli.classroom.find_spec", lambda _: object())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        arguments = ["--users", "2", "--dir", str(tmp_path / "class"), "--port", port]
        result = run.invoke(build_app(), ["classroom", *arguments])
    assert result.exit_code == 1
    assert f"port {port}: Address already in use; choose another one with --port." in result.output
    assert not (tmp_path / "class" / "logins.json").exists()  # no password that nobody saw


@pytest.mark.parametrize("users", ["0", "501", "many"])
def test_an_impossible_number_of_students_is_refused(users: str, tmp_path: Path) -> None:
    result = run.invoke(build_app(), ["classroom", "--users", users, "--dir", str(tmp_path / "c")])
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []
