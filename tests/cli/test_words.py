"""What the commands print is safe for a terminal, and short where that was asked for."""

import pytest
import typer

from freya_teach.cli.words import fail, printable, said, short


def test_what_would_move_the_cursor_is_replaced_and_lines_stay() -> None:
    assert (
        printable("a\x1b[2J\tb\r\nc")
        == "a\N{REPLACEMENT CHARACTER}[2J\tb\N{REPLACEMENT CHARACTER}\nc"
    )


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert short("x" * 12, 10) == "xxxxxxxxxx… (12 characters)"
    assert short("one\ntwo") == "one\n    two"


def test_a_part_is_told_up_to_the_limit_that_was_asked_for() -> None:
    assert said({"text": "x" * 12}, 10) == ": xxxxxxxxxx… (12 characters)"
    assert said({"text": ""}) == ""


def test_a_command_that_fails_says_why_where_errors_go(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        fail("It is not there.")
    assert ended.value.exit_code == 1
    assert capsys.readouterr() == ("", "It is not there.\n")
