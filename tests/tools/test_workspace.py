"""What a workspace reads, lists, finds and writes, and that none of it is outside."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freya_teach.errors import ConfigError, ToolError
from freya_teach.tools.lines import Encoding
from freya_teach.tools.tree_by_name import TreeByName
from freya_teach.tools.workspace import Limits, Workspace
from tests.outside import (
    BOTH_TREES,
    MARKER,
    TRAPS,
    MakeTree,
    Place,
    every_way_in,
    names,
    posix_only,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of the workspace; it does not exist yet."""
    return tmp_path / "made" / "root"


@pytest.fixture
def workspace(root: Path) -> Workspace:
    """Make an empty workspace."""
    return Workspace(root)


# ---- the outside ---------------------------------------------------------------------------

ESCAPES = [
    # absolute
    "{outside}/secret.txt",
    "/{outside}/secret.txt",
    "//localhost{outside}/secret.txt",
    "{root}/../secret.txt",
    "{root}/notes.txt",
    "/proc/self/root{outside}/secret.txt",
    "/proc/self/environ",
    "/dev/fd/0",
    "/etc/passwd",
    "file://{outside}/secret.txt",
    "file:{outside}/secret.txt",
    " {outside}/secret.txt",
    "./{outside}/secret.txt\0",
    # up
    "..",
    "../",
    "./..",
    "../secret.txt",
    "../outside/secret.txt",
    "../root-2/secret.txt",
    "../root/../secret.txt",
    "sub/../../secret.txt",
    "sub/../../outside/secret.txt",
    "sub/./.././../secret.txt",
    "missing/../../secret.txt",
    "notes.txt/../../secret.txt",
    ".//..//secret.txt",
    "sub/..",
    "../~",
    "../C:",
    ".. /secret.txt",
    "../%2e%2e",
    # Windows
    "..\\secret.txt",
    "sub\\..\\..\\secret.txt",
    "sub/..\\../secret.txt",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "C:secret.txt",
    "c:",
    "\\\\server\\share\\secret.txt",
    "//server/share/secret.txt",
    "\\\\?\\C:\\secret.txt",
    "\\\\.\\PhysicalDrive0",
    "\\secret.txt",
    "notes.txt::$DATA",
    "notes.txt:stream",
    "sub::$INDEX_ALLOCATION/inner.txt",
    "CON",
    "nul",
    "sub/AUX.txt",
    "COM1",
    "com\u00b9.log",
    "LPT9.txt",
    "CONIN$",
    "out/CON",
    ".../secret.txt",
    "..../secret.txt",
    "sub./inner.txt",
    "notes.txt.",
    "notes.txt ",
    ".. ",
    # home and variables
    "~",
    "~/secret.txt",
    "~root/secret.txt",
    "~/../../{outside}/secret.txt",
    # encoded
    "%2e%2e/secret.txt",
    "%2E%2E%2Fsecret.txt",
    "..%2fsecret.txt",
    "..%5csecret.txt",
    "%252e%252e%252fsecret.txt",
    "%c0%ae%c0%ae/secret.txt",
    "%u002e%u002e/secret.txt",
    "notes.txt%00.png",
    "%2fetc%2fpasswd",
    # look-alikes
    "．．/secret.txt",
    "．．／secret.txt",
    "‥/secret.txt",
    "․․/secret.txt",
    "..／secret.txt",
    "..∕secret.txt",
    "..⁄secret.txt",
    "..＼secret.txt",
    "．/．．/secret.txt",
    # invisible
    "notes.txt\0",
    "\0/../secret.txt",
    "../secret.txt\0.md",
    ".\u200b./secret.txt",
    "\ufeff../secret.txt",
    "\u202e../secret.txt",
    "..\n/secret.txt",
    "..\r/secret.txt",
    "\t../secret.txt",
    "..\x7f/secret.txt",
    "\ud800/../secret.txt",
    "..\udc2f/secret.txt",
    # patterns
    "*/../../secret.txt",
    "?ecret.txt",
    "sub|cat ../secret.txt",
    # links (made by the test)
    "out",
    "out/",
    "out/secret.txt",
    "out/sub/secret.txt",
    "out/../secret.txt",
    "out-file",
    "out-relative",
    "out-chain",
    "out-chain/secret.txt",
    "out-far/secret.txt",
    "out-to-root-2/secret.txt",
    "out-missing",
    "out-missing/new.txt",
    "sub/up/secret.txt",
    "sub/up/outside/secret.txt",
    "loop",
    "loop/secret.txt",
    "proc/root{outside}/secret.txt",
    "proc/cwd/secret.txt",
    # length
    "x" * 256,
    "sub/" + "é" * 128,
    "a/" * 2_048 + "x",
    "../" * 1_000 + "{outside}/secret.txt",
    # nothing
    "",
]


def with_links(place: Place) -> Place:
    """Make links that lead out, each in another way."""
    for name, target in {
        "out": place.outside,
        "out-file": place.outside / "secret.txt",
        "out-relative": "../secret.txt",
        "out-chain": "out",
        "out-far": "sub/up/outside",
        "out-to-root-2": place.top / "root-2",
        "out-missing": place.outside / "missing.txt",
        "sub/up": "../..",
        "loop": "loop",
        "proc": "/proc/self",
    }.items():
        (place.root / name).symlink_to(target)
    return place


@BOTH_TREES
@pytest.mark.parametrize("path", ESCAPES, ids=ascii)
def test_no_path_leads_out(make_tree: MakeTree, path: str, tmp_path: Path) -> None:
    """Tests run as root, too: no permission stands in the way of a path that gets through."""
    place = with_links(Place(tmp_path, make_tree))
    path = path.replace("{outside}", str(place.outside)).replace("{root}", str(place.root))
    before, inside = place.around(), sorted(place.root.rglob("*"))
    said = every_way_in(place.workspace, path)
    assert all(text.startswith("REFUSED ") for text in said), said
    assert MARKER not in "".join(said)
    assert str(place.top) not in "".join(said).replace(repr(path), "").replace(path[:120], "")
    assert place.around() == before
    assert sorted(place.root.rglob("*")) == inside


def test_the_files_that_the_escapes_are_after_can_be_read_by_this_process(tmp_path: Path) -> None:
    """Otherwise, refusing would prove nothing."""
    place = with_links(Place(tmp_path, Workspace(tmp_path)._tree.__class__))  # noqa: SLF001
    for path in ("../secret.txt", "out/secret.txt", "out-file", "sub/up/secret.txt"):
        assert MARKER in (place.root / path).read_text()
    assert len(ESCAPES) == len(set(ESCAPES)) >= 60


PIECES = [
    *[
        "..",
        ".",
        "/",
        "//",
        "\\",
        "~",
        "C:",
        "%2e",
        "．",
        "\0",
        " ",
        "sub",
        "out",
        "up",
        "secret.txt",
    ],
    *["outside", "out-file", "notes.txt", "CON", "\ud800", "\u202e", "x" * 300, "new", "…"],
]
PATHS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map("/".join),
)


@BOTH_TREES
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=PATHS)
def test_any_text_as_a_path_gives_an_answer_or_a_guiding_error_and_nothing_from_outside(
    make_tree: MakeTree, path: str, tmp_path: Path
) -> None:
    place = with_links(Place(tmp_path / "p", make_tree)) if not (tmp_path / "p").exists() else None
    workspace = (
        place.workspace if place else Workspace(tmp_path / "p" / "root", make_tree=make_tree)
    )
    said = every_way_in(workspace, path)
    assert MARKER not in "".join(said)
    assert (tmp_path / "p" / "secret.txt").read_text() == f"{MARKER}\n"
    assert names(tmp_path / "p") == sorted(["root", "outside", "root-2", "secret.txt", *TRAPS])
    assert names(tmp_path / "p" / "outside") == ["secret.txt", "sub"]


def test_links_inside_are_followed_for_reading_and_not_for_writing(tmp_path: Path) -> None:
    place = Place(tmp_path, TreeByName)
    (place.root / "latest").symlink_to("sub/inner.txt")
    (place.root / "folder").symlink_to(place.root / "sub")
    assert place.workspace.read("latest") == "[latest: lines 1-1 of 1]\ninner"
    assert place.workspace.read("folder/inner.txt").endswith("\ninner")
    assert place.workspace.list("folder") == "[folder (entries: 1)]\ninner.txt  6 B"
    for path, why in (("latest", "is a link"), ("folder/new.txt", "links are not followed")):
        with pytest.raises(ToolError, match=why):
            place.workspace.write(path, "x", overwrite=True)


# ---- scopes --------------------------------------------------------------------------------


def test_src_and_doc_can_be_read_and_not_be_written(tmp_path: Path) -> None:
    for scope in ("workspace", "src", "doc"):
        (tmp_path / scope).mkdir()
        (tmp_path / scope / "a.txt").write_text(f"in {scope}")
    workspace = Workspace(tmp_path / "workspace", src=tmp_path / "src", doc=tmp_path / "doc")
    assert workspace.scopes == ("workspace", "src", "doc")
    assert workspace.read("a.txt") == "[a.txt: lines 1-1 of 1]\nin workspace"
    assert workspace.read("a.txt", "src") == "[a.txt in src: lines 1-1 of 1]\nin src"
    assert "in doc" in workspace.search("in", ".", "doc")
    workspace.write("a.txt", "new", overwrite=True)
    assert (tmp_path / "src" / "a.txt").read_text() == "in src"
    with pytest.raises(ToolError, match="is refused, because it goes up"):
        workspace.read("../workspace/a.txt", "src")


def test_a_scope_that_there_is_not_is_answered_with_those_there_are(workspace: Workspace) -> None:
    for scope in ("src", "home", "x" * 1_000):
        with pytest.raises(ToolError, match=r"no scope '.*Scopes: workspace\.") as refusal:
            workspace.list(".", scope)
        assert len(str(refusal.value)) < 300


def test_a_folder_that_cannot_be_used_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be used"):
        Workspace(tmp_path / "file")
    with pytest.raises(ConfigError, match="cannot be used"):
        Workspace(tmp_path / "root", src=tmp_path / "missing")


# ---- reading -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (1, None, "[n.txt: lines 1-4 of 4]\none\ntwo\nthree\nfour"),
        (2, 3, "[n.txt: lines 2-3 of 4; go on with start_line=4]\ntwo\nthree"),
        (4, 4, "[n.txt: lines 4-4 of 4]\nfour"),
        (3, 900, "[n.txt: lines 3-4 of 4]\nthree\nfour"),
    ],
)
def test_lines_are_read_from_one_to_another(
    start: int, end: int | None, expected: str, workspace: Workspace
) -> None:
    workspace.write("n.txt", "one\ntwo\nthree\nfour")
    assert workspace.read("n.txt", start_line=start, end_line=end) == expected


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (5, None, r"n.txt has 4 lines, so there is no line 5. Its last line is start_line=4."),
        (10**12, None, "no line 1,000,000,000,000"),
        (0, None, "Lines count from 1"),
        (-1, None, "Lines count from 1"),
        (3, 2, "end_line is not before start_line"),
    ],
)
def test_lines_that_there_are_not_give_a_guiding_error(
    start: int, end: int | None, why: str, workspace: Workspace
) -> None:
    workspace.write("n.txt", "one\ntwo\nthree\nfour\n")
    with pytest.raises(ToolError, match=why):
        workspace.read("n.txt", start_line=start, end_line=end)


def test_an_empty_file_is_said_to_be_empty(workspace: Workspace) -> None:
    workspace.write("n.txt", "")
    assert workspace.read("n.txt") == "[n.txt is empty]"


def test_a_large_file_is_read_part_by_part_by_what_each_answer_says(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(read_chars=1_000))
    lines = [f"line {number} " + "é" * (number % 90) for number in range(1, 301)]
    workspace.write("n.txt", "\n".join(lines))
    read: list[str] = []
    while True:
        header, *part = workspace.read("n.txt", start_line=len(read) + 1).split("\n")
        assert header.startswith(f"[n.txt: lines {len(read) + 1}-{len(read) + len(part)} of 300")
        assert len("\n".join(part)) <= 1_000
        read += part
        if "go on with" not in header:
            break
        assert header.endswith(f"; go on with start_line={len(read) + 1}]")
    assert read == lines


def test_of_a_very_large_file_only_the_part_is_read(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(read_chars=10, count_bytes=20))
    workspace.write("n.txt", "12345\n" * 100)
    assert workspace.read("n.txt") == (
        "[n.txt: lines 1-1 of a file of 600 bytes; go on with start_line=2]\n12345"
    )


def test_a_long_line_is_cut_and_says_so(workspace: Workspace) -> None:
    workspace.write("n.txt", "short\n" + "字" * 10_000 + "\nshort")
    _, first, second, third = workspace.read("n.txt").split("\n")
    assert (first, third) == ("short", "short")
    assert second == "字" * 2_000 + " [… the rest of this line is left out: 30,000 bytes in all]"


def test_windows_line_ends_are_read_as_line_ends_and_told(root: Path, workspace: Workspace) -> None:
    (root / "n.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rhalf\r\n")
    said = workspace.read("n.txt")
    assert said == "[n.txt: lines 1-2 of 2; its lines end with CRLF]\none\ntwo\rhalf"


def test_a_file_that_is_no_utf8_is_not_guessed(root: Path, workspace: Workspace) -> None:
    (root / "n.txt").write_bytes("fine\ncafé\n".encode("latin-1"))
    with pytest.raises(
        ToolError, match=r"line 2 has the byte 0xE9 at byte 4 of the line.*encoding='latin-1'"
    ):
        workspace.read("n.txt")
    assert workspace.read("n.txt", end_line=1).endswith("\nfine")
    assert workspace.read("n.txt", encoding="latin-1").endswith("\nfine\ncafé")
    assert workspace.read("n.txt", encoding="utf-8-replace").endswith("\nfine\ncaf\ufffd")


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030", "shift_jis"])
def test_a_file_in_another_encoding_is_read_when_it_is_named(
    encoding: Encoding, root: Path, workspace: Workspace
) -> None:
    (root / "n.txt").write_bytes("東京\n北京\n".encode(encoding))
    said = workspace.read("n.txt", start_line=2, encoding=encoding)
    assert said == "[n.txt: lines 2-2 of 2]\n北京"
    with pytest.raises(ToolError, match=r"UTF-16 text\. Call again with encoding='utf-16'|0x"):
        workspace.read("n.txt")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"x" * 10, "a PNG image of 18 bytes"),
        (b"%PDF-1.7\n", "a PDF document of 9 bytes"),
        (b"PK\x03\x04...", "a ZIP archive"),
        (b"text, and then\0", "binary data of 15 bytes"),
    ],
)
def test_a_binary_file_is_refused_with_its_kind_and_size(
    data: bytes, kind: str, root: Path, workspace: Workspace
) -> None:
    (root / "n.txt").write_bytes(data)
    for encoding in ("utf-8", "latin-1", "utf-8-replace"):
        with pytest.raises(ToolError, match=f"n.txt is {kind}"):
            workspace.read("n.txt", encoding=encoding)  # type: ignore[arg-type]


def test_what_is_not_there_is_answered_with_the_closest_name(workspace: Workspace) -> None:
    workspace.write("notes/today.txt", "x")
    with pytest.raises(ToolError, match=r"nothing at 'notes/tody.txt'. Did you mean 'notes/today"):
        workspace.read("notes/tody.txt")
    with pytest.raises(ToolError, match=r"nothing at 'x/y.txt'. list_dir shows"):
        workspace.read("x/y.txt")
    with pytest.raises(ToolError, match=r"is a folder\. list_dir shows"):
        workspace.read("notes")
    with pytest.raises(ToolError, match=r"is a folder\. list_dir shows"):
        workspace.read(".")
    with pytest.raises(ToolError, match="not a folder"):
        workspace.list("notes/today.txt")


def test_a_workspace_that_was_removed_gives_guiding_errors(
    root: Path, workspace: Workspace
) -> None:
    root.rmdir()
    assert all(text.startswith("REFUSED ") for text in every_way_in(workspace, "."))
    assert all("There is nothing at 'a.txt'" in text for text in every_way_in(workspace, "a.txt"))


# ---- listing -------------------------------------------------------------------------------


@posix_only
def test_a_folder_is_listed_in_order_with_kinds_and_sizes_hidden_ones_too(
    root: Path, workspace: Workspace
) -> None:
    workspace.write("b.txt", "x" * 1_234)
    workspace.write("a/deep/c.txt", "")
    workspace.write(".hidden", "h")
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("b.txt")
    (root / "two\nlines").write_text("")
    assert workspace.list() == (
        "[. (entries: 6)]\n.hidden  1 B\na/\nb.txt  1,234 B\nlink  (a link)\n"
        "pipe  (a device, pipe or socket)\ntwo\\nlines  0 B"
    )


@posix_only
def test_a_name_that_is_no_utf8_is_shown_with_its_codes(root: Path, workspace: Workspace) -> None:
    try:
        (root / os.fsdecode(b"caf\xe9.txt")).write_text("needle")
    except OSError:
        pytest.skip("this file system has names in UTF-8 only")
    assert "caf\\udce9.txt  6 B" in workspace.list()
    assert "caf\\udce9.txt:1: needle" in workspace.search("needle")


def test_a_long_list_ends_with_how_many_more_there_are(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(entries=3))
    for number in range(5):
        workspace.write(f"{number}.txt", "")
    said = workspace.list().split("\n")
    assert said[0] == "[. (entries: 5)]"
    assert said[3:] == ["2.txt  0 B", "… and 2 more: search_text looks in all."]


# ---- searching -----------------------------------------------------------------------------


def test_a_search_gives_path_line_and_text_and_tells_what_it_left_out(
    root: Path, workspace: Workspace
) -> None:
    workspace.write("a.txt", "one\nthe needle\n")
    workspace.write("sub/b.txt", "needle\nneedle\n")
    workspace.write(".git/c.txt", "needle")
    (root / "image.png").write_bytes(b"\x89PNG\r\n needle")
    (root / "loop").symlink_to(".")
    assert workspace.search("needle").split("\n") == [
        "['needle' in . (lines found: 3, files searched: 2)]",
        "a.txt:2: the needle",
        "sub/b.txt:1: needle",
        "sub/b.txt:2: needle",
        "[not searched (binary: 1, hidden folders: 1, links and devices: 1)]",
    ]
    assert "lines found: 1, files searched: 1" in workspace.search("needle", ".git")
    assert "a.txt:2: the needle" in workspace.search(r"^the \w+$", "a.txt", regex=True)


def test_a_search_without_a_find_says_how_to_search_otherwise(workspace: Workspace) -> None:
    workspace.write("a.txt", "Needle")
    assert "[nothing found; capitals count" in workspace.search("needle")
    assert "a.txt:1: Needle" in workspace.search("(?i)needle", regex=True)


def test_a_search_ends_at_its_limits_and_says_so(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(matches=3, search_file_bytes=100))
    workspace.write("a.txt", "needle\n" * 5)
    workspace.write("large.txt", "needle\n" * 50)
    said = workspace.search("needle")
    assert said.count("a.txt:") == 3
    assert "ended early, because 3 lines are the most" in said
    assert "over 100 bytes: 1" in workspace.search("nothing")


def test_a_search_whose_time_is_up_gives_what_it_has_found(workspace: Workspace) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        workspace.write(name, "needle\n")
    asked = iter([False] * 4)
    said = workspace.search("needle", stop=lambda: next(asked, True))
    assert "a.txt:1: needle" in said
    assert "c.txt" not in said
    assert "ended early, because the time was up" in said


# ---- writing -------------------------------------------------------------------------------


def test_a_file_is_written_as_it_is_with_the_folders_above_it(
    root: Path, workspace: Workspace
) -> None:
    text = "é\r\ntwo\n\nlast"
    assert workspace.write("a/b/c.txt", text) == "Wrote 'a/b/c.txt' (lines: 4, bytes: 13)."
    assert (root / "a" / "b" / "c.txt").read_bytes() == text.encode()


def test_an_existing_file_is_replaced_only_on_demand(root: Path, workspace: Workspace) -> None:
    workspace.write("a.txt", "old")
    (root / "a.txt").chmod(0o750)
    with pytest.raises(ToolError, match=r"'a.txt' exists already \(3 bytes\).*overwrite=true"):
        workspace.write("a.txt", "new")
    assert (root / "a.txt").read_text() == "old"
    workspace.write("a.txt", "new", overwrite=True)
    assert (root / "a.txt").read_text() == "new"
    if os.name != "nt":
        assert (root / "a.txt").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize(
    ("path", "text", "why"),
    [
        (".", "x", "is the folder itself"),
        ("sub", "x", "is a folder"),
        ("a.txt/b.txt", "x", "not a folder"),
        ("new.txt", "half \ud83d of it", "half a character at position 5"),
        ("new.txt", "é" * 500_001, "1,000,002 bytes, and 1,000,000 is the most"),
    ],
)
def test_what_cannot_be_written_changes_nothing(
    path: str, text: str, why: str, root: Path, workspace: Workspace
) -> None:
    workspace.write("a.txt", "a")
    workspace.write("sub/b.txt", "b")
    with pytest.raises(ToolError, match=why):
        workspace.write(path, text, overwrite=True)
    assert sorted(path.name for path in root.rglob("*")) == ["a.txt", "b.txt", "sub"]


def test_saved_bytes_have_one_path_and_are_restored_when_changed(
    root: Path, workspace: Workspace
) -> None:
    path = workspace.save_download(b"<p>hi</p>", "text/html; charset=utf-8")
    assert path == workspace.save_download(b"<p>hi</p>", ".html")
    assert path.startswith("download/")
    assert path.endswith(".html")
    assert workspace.read(path).endswith("\n<p>hi</p>")
    workspace.write(path, "changed", overwrite=True)
    workspace.save_download(b"<p>hi</p>", "html")
    assert (root / path).read_bytes() == b"<p>hi</p>"
    assert len(names(root / "download")) == 1


def test_too_many_bytes_are_not_saved(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(download_bytes=10))
    with pytest.raises(ToolError, match="11 bytes and was not saved: 10 is the most"):
        workspace.save_download(b"x" * 11)


@BOTH_TREES
def test_a_download_folder_that_is_a_link_is_not_followed(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    (place.root / "download").symlink_to(place.outside)
    before = place.around()
    with pytest.raises(ToolError, match="is a link"):
        place.workspace.save_download(b"x")
    assert place.around() == before


# ---- size ----------------------------------------------------------------------------------


def large_file(path: Path, lines: int) -> None:
    """Write lines of 100 bytes."""
    with path.open("wb") as file:
        for start in range(0, lines, 10_000):
            file.write(b"".join(b"%-99d\n" % number for number in range(start + 1, start + 10_001)))


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the most that Python held at once while this ran, above what it held before."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("lines", [50_000, pytest.param(2_000_000, marks=pytest.mark.soak)])
def test_a_line_far_inside_is_read_without_holding_the_file(
    lines: int, root: Path, workspace: Workspace
) -> None:
    """With 2,000,000 lines: line 1,000,000 of a file of 200 MB."""
    large_file(root / "large.txt", lines)
    said: list[str] = []
    middle = lines // 2
    peak = peak_bytes(
        lambda: said.append(workspace.read("large.txt", start_line=middle, end_line=middle + 1))
    )
    header, first, second = said[0].split("\n")
    assert header == (
        f"[large.txt: lines {middle}-{middle + 1} of {lines:,}; go on with start_line={middle + 2}]"
    )
    assert (first.strip(), second.strip()) == (str(middle), str(middle + 1))
    assert peak < 1_000_000


@pytest.mark.soak
def test_one_line_of_200_mb_is_neither_held_for_reading_nor_for_searching(root: Path) -> None:
    workspace = Workspace(root, limits=Limits(search_file_bytes=10**9))
    with (root / "large.json").open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 1_000_000)
    said: list[str] = []
    assert peak_bytes(lambda: said.append(workspace.read("large.json"))) < 1_000_000
    assert peak_bytes(lambda: said.append(workspace.search("y"))) < 1_000_000
    assert said[0].endswith("x [… the rest of this line is left out: 200,000,000 bytes in all]")
    assert "nothing found" in said[1]
