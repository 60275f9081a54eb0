"""`make notebooks`: what is run again, what an author is shown, and what is stored."""

import json
from pathlib import Path
from typing import Any

import pytest
import rerun
import running
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.notebooks.small import kernelspec, printed

# pyzmq says on Windows that it helps itself with a thread; that is its way of working there.
pytestmark = pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning")

PRINT_TWICE = "import sys\nprint('one')\nsys.stdout.flush()\nprint('two')"


def write(root: Path, name: str, **cells: str) -> Path:
    """Write a notebook: cell ids → sources; each cell has printed "old"."""
    made = [new_code_cell(code, id=key, outputs=printed("old\n")) for key, code in cells.items()]
    path = root / "notebooks" / name
    path.parent.mkdir(exist_ok=True)
    notebook = new_notebook(cells=made, metadata={"kernelspec": kernelspec()})
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a course with nothing in it, and be an author who has set nothing."""
    for variable in ("FREYA_LIVE", "FREYA_UPDATE_AUTHORED"):
        monkeypatch.delenv(variable, raising=False)
    for folder in ("freya_teach", "prompts", "fixtures", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_a_failing_notebook_keeps_its_file_and_the_others_are_stored(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(root, "good.ipynb", first=PRINT_TWICE, second="print('old')")
    bad = write(root, "bad.ipynb", fine="print('new')", wrong="{}['city']", later="1")
    before, state = bad.read_bytes(), root / "state.json"

    assert rerun.main([], root, state) == 1

    shown = capsys.readouterr()
    assert "FAILED notebooks/bad.ipynb: wrong: KeyError: 'city'" in shown.err
    assert bad.read_bytes() == before
    assert shown.out.splitlines() == [
        "0 of 2 notebooks are up to date.",
        "notebooks/good.ipynb: outputs of first changed",
        *("  first", "    stdout", "    @@ -1 +1,2 @@", "    -old", "    +one", "    +two"),
    ]
    stored = running.read(good)
    assert [cell.outputs for cell in stored.cells] == [printed("one\ntwo\n"), printed("old\n")]
    assert [cell.execution_count for cell in stored.cells] == [1, 2]
    assert "version" not in stored.metadata.language_info

    bad.unlink()
    assert rerun.main([], root, state) == 0
    assert capsys.readouterr().out == "1 of 1 notebooks are up to date.\n"


@pytest.mark.parametrize(
    "name", ["notebooks/a.ipynb", "freya_teach/a.py", "prompts/a.md", "fixtures/1/a.json"]
)
def test_a_notebook_is_run_again_when_something_it_depends_on_changed(
    root: Path, name: str
) -> None:
    notebook = write(root, "a.ipynb", only="1")
    before = rerun.digest(notebook, rerun.surroundings(root))
    assert rerun.digest(notebook, rerun.surroundings(root)) == before
    (root / name).parent.mkdir(exist_ok=True)
    with (root / name).open("a", encoding="utf-8") as file:
        file.write(" ")
    assert rerun.digest(notebook, rerun.surroundings(root)) != before


def test_compiled_files_change_nothing(root: Path) -> None:
    before = rerun.surroundings(root)
    compiled = root / "freya_teach" / "__pycache__" / "a.pyc"
    compiled.parent.mkdir()
    compiled.touch()
    assert rerun.surroundings(root) == before


def test_a_live_answer_is_never_stored(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FREYA_LIVE", "1")
    assert rerun.main(["--all"], root, root / "state.json") == 2
    assert "a live answer is not to be stored" in capsys.readouterr().err


def test_a_name_that_is_no_notebook_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rerun.main([str(root / "gone.ipynb")], root, root / "state.json") == 2
    assert "gone.ipynb is no notebook of the course" in capsys.readouterr().err


def pair(before: list[Any], after: list[Any]) -> dict[str, list[str]]:
    """What is shown of one cell whose outputs were these and are those."""
    notebooks = [
        new_notebook(cells=[new_code_cell("1", id="cell", outputs=outputs)])
        for outputs in (before, after)
    ]
    return running.differences(*notebooks)


def picture(svg: str, text: str) -> Any:
    """Return a drawn picture with its text."""
    return new_output("display_data", data={"image/svg+xml": svg, "text/plain": text})


def test_a_picture_is_only_said_to_have_changed_and_its_text_is_shown() -> None:
    assert pair([picture("<svg>1</svg>", "one")], [picture("<svg>2</svg>", "two")]) == {
        "cell": [
            "image/svg+xml: the picture changed",
            *("text/plain", "@@ -1 +1 @@", "-one", "+two"),
        ]
    }


def test_an_output_in_pieces_and_a_widget_with_another_id_look_the_same() -> None:
    widget = {running.WIDGET: {"model_id": "1"}, "text/plain": "a slider"}
    shown = new_output("display_data", data=widget)
    plain = new_output("display_data", data={"text/plain": "a slider"})
    assert pair([*printed("a\n"), *printed("b\n"), shown], [*printed("a\nb\n"), plain]) == {}


def test_of_an_error_its_name_and_words_are_compared_and_not_its_trace() -> None:
    first, second = (
        new_output("error", ename="TurnLimit", evalue="three", traceback=[where])
        for where in ("here", "there")
    )
    assert pair([first], [second]) == {}
    assert pair([first], []) == {"cell": ["error", "@@ -1 +0,0 @@", "-TurnLimit: three"]}


def test_a_widget_is_not_stored_and_the_picture_beside_it_is() -> None:
    data = {running.WIDGET: {"model_id": "1"}, "image/svg+xml": "<svg/>"}
    notebook = new_notebook(
        cells=[new_code_cell("1", outputs=[new_output("display_data", data=data)])]
    )
    assert [*running.normalised(notebook).cells[0].outputs[0].data] == ["image/svg+xml"]
