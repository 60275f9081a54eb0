"""Somebody at a notebook in JupyterLab: clicks menus and buttons, types, reads. In Lite as well."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

CODE_CELL = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell"
PROMPT = ".jp-InputArea-prompt"
TRACE = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
"""An error, and whatever else is shown in red."""

EVERYTHING_RAN = """([cell, prompt, trace, onPurpose]) => {
    const cells = [...document.querySelectorAll(cell)];
    const marks = cells.map(each => each.querySelector(prompt)?.textContent ?? '');
    const failed = !onPurpose && cells.some(each => each.querySelector(trace));
    const waiting = marks.some(mark => mark.includes('*'));
    return cells.length > 0 && !waiting && (failed || /\\d/.test(marks.at(-1)));
}"""

READ_LITE_FILE = """async path => {
    const answer = request => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const known = await indexedDB.databases();
    const { name } = known.find(each => each.name.startsWith('JupyterLite Storage'));
    const database = await answer(indexedDB.open(name));
    return answer(database.transaction('files').objectStore('files').get(path));
}"""


@dataclass
class Learner:
    """One browser page, and the folder that its pictures go to."""

    page: Page
    pictures: Path

    def open(self, address: str, kernel: str = "Python 3") -> None:
        """Open a notebook and wait until its kernel has a name and is idle: then cells run."""
        self.page.goto(address)
        notebook = self.page.locator(".jp-NotebookPanel")
        notebook.locator(".jp-Toolbar-kernelName", has_text=kernel).wait_for()
        notebook.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()

    def choose(self, menu: str, command: str) -> None:
        """Choose an entry of the menu bar."""
        title = self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{menu}$"))
        title.click()
        self.page.locator(f".lm-Menu-item[data-command='{command}']").first.click()

    def run_all(self, *, errors_on_purpose: bool = False) -> None:
        """Clear what was stored, run every cell from the top, wait for the last."""
        self.choose("Edit", "editmenu:clear-all")
        self.choose("Run", "runmenu:run-all")
        self.wait_for_the_last_cell(errors_on_purpose=errors_on_purpose)

    def restart_and_run_all(self) -> None:
        """Clear what is there and begin again with a new Python."""
        self.choose("Edit", "editmenu:clear-all")
        self.choose("Kernel", "runmenu:restart-and-run-all")
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")
        self.wait_for_the_last_cell()

    def wait_for_the_last_cell(self, *, errors_on_purpose: bool = False) -> None:
        """Wait until no cell is running and the last one ran, or one failed that should not."""
        seen = [CODE_CELL, PROMPT, TRACE, errors_on_purpose]
        self.page.wait_for_function(EVERYTHING_RAN, arg=seen)

    def cell(self, source: str) -> Locator:
        """The code cell with this text in it."""
        return self.page.locator(CODE_CELL).filter(
            has=self.page.locator(".jp-InputArea-editor", has_text=source)
        )

    def edit(self, cell: Locator, old: str, new: str) -> None:
        """Replace a piece of a cell's source by typing all of it again."""
        editor = cell.locator(".cm-content")
        editor.scroll_into_view_if_needed()
        lines = editor.locator(".cm-line").all_text_contents()
        editor.click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text("\n".join(lines).replace(old, new))
        expect(editor).to_contain_text(new)

    def run(self, cell: Locator) -> Locator:
        """Run one cell and stay on it; returns its outputs."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+Enter")
        expect(cell.locator(PROMPT)).to_have_text(re.compile(r"\[\d+\]"))
        return cell.locator(".jp-OutputArea-output")

    def save(self) -> None:
        """Save, and wait until the tab no longer shows a change."""
        self.choose("File", "docmanager:save")
        tab = self.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab.lm-mod-current")
        expect(tab).not_to_have_class(re.compile("jp-mod-dirty"))

    def saved_in_the_browser(self, path: str) -> dict[str, Any]:
        """Save in JupyterLite, whose files are in the browser, and read the notebook there."""
        self.save()
        file: dict[str, Any] = self.page.evaluate(READ_LITE_FILE, path)
        notebook: dict[str, Any] = file["content"]
        return notebook

    def picture(self, name: str, subject: Locator | None = None) -> None:
        """Keep what the page looks like now, with the end of the subject in view."""
        if subject:
            subject.evaluate("each => each.scrollIntoView({block: 'end'})")
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self.pictures / f"{name}.png")


def fails_on_purpose(notebook: dict[str, Any]) -> bool:
    """Whether a cell is there to fail."""
    return any("raises-exception" in c["metadata"].get("tags", []) for c in notebook["cells"])


def told(notebook: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Per code cell its id and what it says in words: printed text, values, names of errors."""
    return [
        (cell["id"], words_of(cell["outputs"]))
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def words_of(outputs: list[dict[str, Any]]) -> list[str]:
    """Texts in their order; pieces of one stream are one text."""
    words: list[str] = []
    streaming = ""
    for output in outputs:
        text = output.get("text", output.get("data", {}).get("text/plain", output.get("ename")))
        text = "".join(text or "")
        stream = output.get("name", "")
        if stream and stream == streaming:
            words[-1] += text
        else:
            words.append(text)
        streaming = stream
    return words


def never_run(notebook: dict[str, Any]) -> list[str]:
    """The first lines of code cells without a number."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        "".join(cell["source"]).partition("\n")[0]
        for cell in cells
        if cell["execution_count"] is None
    ]
