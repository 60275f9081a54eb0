"""Opening and writing without following links, whatever is swapped meanwhile, on either tree."""

import hashlib
import itertools
import os
import socket
import stat
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from freya_teach.errors import ToolError
from freya_teach.tools.tree import Entry, kind_of, resolve
from freya_teach.tools.tree_by_name import TreeByName
from tests.outside import BOTH_TREES, MARKER, MakeTree, Place, names, posix_only

ROUNDS = pytest.mark.parametrize(
    "rounds", [100, pytest.param(1_000, marks=pytest.mark.soak)], ids="{} rounds".format
)


@posix_only
@BOTH_TREES
def test_entries_are_sorted_have_their_kind_and_size_and_do_not_follow_links(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    (place.root / "link").symlink_to(place.outside)
    os.mkfifo(place.root / "pipe")
    tree = make_tree(place.root)
    assert tree.entries((), 10)[0] == [
        Entry("link", "link", len(str(place.outside))),
        Entry("notes.txt", "file", 14),
        Entry("pipe", "other", 0),
        Entry("sub", "folder", (place.root / "sub").stat().st_size),
    ]
    assert tree.entries((), 2)[1] == 4
    assert [tree.kind(parts) for parts in ((), ("link",), ("sub", "inner.txt"))] == [
        "folder",
        "link",
        "file",
    ]


@BOTH_TREES
def test_no_method_follows_a_link_even_one_that_stays_inside(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    (place.root / "file").symlink_to("notes.txt")
    (place.root / "folder").symlink_to("sub")
    tree = make_tree(place.root)
    with pytest.raises(ToolError, match="is a link"):
        tree.open_file(("file",))
    with pytest.raises(ToolError, match="is a link"):
        tree.write(("file",), b"", overwrite=True)
    for attempt in (
        lambda: tree.open_file(("folder", "inner.txt")),
        lambda: tree.entries(("folder",), 10),
        lambda: tree.kind(("folder", "inner.txt")),
        lambda: tree.write(("folder", "new.txt"), b"", overwrite=False),
    ):
        with pytest.raises(OSError, match=r"directory|folder|symbolic links"):
            attempt()
    assert names(place.root / "sub") == ["inner.txt"]


def test_links_are_resolved_before_the_check(tmp_path: Path) -> None:
    place = Place(tmp_path, TreeByName)
    (place.root / "inside").symlink_to("sub/inner.txt")
    (place.root / "sub" / "up").symlink_to("..")
    (place.root / "out").symlink_to(place.outside)
    (place.root / "chain").symlink_to("out/sub")
    root = place.root.resolve()
    assert resolve(root, ("inside",)) == ("sub", "inner.txt")
    assert resolve(root, ("sub", "up", "notes.txt")) == ("notes.txt",)
    for parts in (("out",), ("out", "secret.txt"), ("chain", "secret.txt"), ("sub", "up", "out")):
        with pytest.raises(ToolError, match="leads out of the folder"):
            resolve(root, parts)


@posix_only
@BOTH_TREES
@pytest.mark.parametrize("make", [os.mkfifo, "socket", "device"], ids=["pipe", "socket", "device"])
def test_a_device_a_pipe_and_a_socket_are_refused_without_being_opened(
    make_tree: MakeTree, tmp_path: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, make_tree)
    if make == "socket":
        monkeypatch.chdir(place.root)  # a socket's path has 108 bytes at most
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("special")
    elif make == "device":
        try:
            os.mknod(place.root / "special", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root may make a device")
    else:
        make(place.root / "special")
    for attempt in (
        lambda: place.workspace.read("special"),
        lambda: place.workspace.write("special", "x", overwrite=True),
    ):
        with pytest.raises(ToolError, match="is a device, a pipe or a socket"):
            attempt()


def test_a_windows_junction_is_a_link_and_a_file_in_the_cloud_is_a_file() -> None:
    folder, file = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o644
    junction: Any = SimpleNamespace(st_mode=folder, st_reparse_tag=0xA000_0003)
    cloud: Any = SimpleNamespace(st_mode=file, st_reparse_tag=0x9000_001A)
    assert (kind_of(junction), kind_of(cloud)) == ("link", "file")


@BOTH_TREES
def test_a_written_file_is_all_there_and_nothing_unfinished_stays(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path.resolve())
    tree.write(("a", "b", "c.txt"), b"one", overwrite=False)
    tree.write(("a", "b", "c.txt"), b"two", overwrite=True)
    with pytest.raises(ToolError, match=r"'a/b/c.txt' exists already \(3 bytes\)"):
        tree.write(("a", "b", "c.txt"), b"three", overwrite=False)
    assert names(tmp_path / "a" / "b") == ["c.txt"]
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"two"


@BOTH_TREES
def test_a_disk_that_fails_leaves_the_old_file_and_nothing_else(
    make_tree: Callable[..., Any], tmp_path: Path
) -> None:
    def broken(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "old.txt").write_text("old")
    tree = make_tree(tmp_path.resolve(), broken)
    for name in ("old.txt", "new.txt"):
        with pytest.raises(OSError, match="No space left"):
            tree.write((name,), b"new", overwrite=True)
    assert names(tmp_path) == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


@posix_only
@BOTH_TREES
def test_writing_over_a_hard_link_changes_this_name_only(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    os.link(place.outside / "secret.txt", place.root / "hard.txt")
    before = place.around()
    make_tree(place.root).write(("hard.txt",), b"mine", overwrite=True)
    assert (place.root / "hard.txt").read_bytes() == b"mine"
    assert place.around() == before


@BOTH_TREES
def test_of_many_writers_of_one_new_file_one_wins_and_the_others_are_told(
    make_tree: MakeTree, tmp_path: Path
) -> None:
    tree, start, results = make_tree(tmp_path.resolve()), threading.Barrier(8), []

    def write(number: int) -> None:
        start.wait()
        try:
            tree.write(("one.txt",), str(number).encode(), overwrite=False)
            results.append(number)
        except (ToolError, FileExistsError):
            results.append(-1)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winner = max(results)
    assert sorted(results) == [-1] * 7 + [winner]
    assert (tmp_path / "one.txt").read_text() == str(winner)
    assert names(tmp_path) == ["one.txt"]


# ---- swapped at the worst moment -----------------------------------------------------------


class Moments:
    """Calls `action` once, just before the n-th file operation that Python itself announces."""

    def __init__(self) -> None:
        self.left = 0
        self.action: Callable[[], object] | None = None
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: Any) -> None:
        if self.action is None or event not in ("open", "os.listdir", "os.link", "os.rename"):
            return
        self.left -= 1
        if self.left == 0:
            action, self.action = self.action, None
            action()

    def before(self, number: int, action: Callable[[], object]) -> None:
        """Arm it."""
        self.left, self.action = number, action


@pytest.fixture(scope="module")
def moments() -> Iterator[Moments]:
    """Give one for all tests here: Python keeps an audit hook until it ends."""
    made = Moments()
    yield made
    made.action = None


def swap_folder(place: Place) -> None:
    (place.root / "sub").rename(place.root / "sub-before")
    (place.root / "sub").symlink_to(place.outside / "sub")


def swap_file(place: Place) -> None:
    (place.root / "sub" / "inner.txt").unlink()
    (place.root / "sub" / "inner.txt").symlink_to(place.outside / "sub" / "secret.txt")


def swap_unfinished(place: Place) -> None:
    for path in place.root.rglob(".unfinished-*"):
        path.unlink()
        path.symlink_to(place.outside / "secret.txt")


def swap_pipe(place: Place) -> None:
    (place.root / "sub" / "inner.txt").unlink()
    os.mkfifo(place.root / "sub" / "inner.txt")


@posix_only
@BOTH_TREES
@pytest.mark.parametrize("swap", [swap_folder, swap_file, swap_pipe, swap_unfinished])
@pytest.mark.parametrize(
    "step",
    list(itertools.product(["read", "list", "search", "write", "replace"], range(1, 6))),
    ids=str,
)
def test_a_swap_before_any_single_step_leads_nowhere(
    make_tree: MakeTree,
    swap: Callable[[Place], None],
    step: tuple[str, int],
    tmp_path: Path,
    moments: Moments,
) -> None:
    what, moment = step
    place = Place(tmp_path, make_tree)
    before, workspace = place.around(), place.workspace
    ways: dict[str, Callable[[], str]] = {
        "read": lambda: workspace.read("sub/inner.txt"),
        "list": lambda: workspace.list("sub"),
        "search": lambda: workspace.search("e", "sub"),
        "write": lambda: workspace.write("sub/secret.txt", "mine"),
        "replace": lambda: workspace.write("sub/inner.txt", "mine", overwrite=True),
    }
    said = ""
    moments.before(moment, lambda: swap(place))
    with suppress(ToolError):
        said = ways[what]()
    moments.action = None
    assert MARKER not in said
    assert "only-outside" not in said
    assert "is empty" not in said  # as a pipe without a writer would seem
    assert place.leaks() == []
    assert place.around() == before


# ---- swapped all the time ------------------------------------------------------------------


@contextmanager
def swapping(place: Place) -> Iterator[None]:
    """Swap a folder and a file for links to the outside and back, again and again."""
    (place.root / "link-to-folder").symlink_to(place.outside / "sub")
    (place.root / "sub" / "secret.txt").write_text("harmless\n")
    over = threading.Event()

    def swap() -> None:
        root, folder, away = place.root, place.root / "sub", place.root / "away"
        while not over.is_set():
            folder.rename(away)
            put(root / "link-to-folder", folder)
            put(folder, root / "link-to-folder")
            put(away, folder)
            (folder / "new-link").symlink_to(place.outside / "secret.txt")
            (folder / "new-link").replace(folder / "secret.txt")
            (folder / "new-file").write_text("harmless\n")
            (folder / "new-file").replace(folder / "secret.txt")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def put(path: Path, target: Path) -> None:
    """Rename; a folder that a writer has made there meanwhile is moved away."""
    while True:
        try:
            path.rename(target)
        except OSError:
            target.rename(target.with_name(f"made-{uuid.uuid4().hex}"))
        else:
            return


def naive_read(place: Place, path: str) -> str:
    """Check the resolved path, then open the name: what the check is worth is tested here."""
    full = place.root / path
    if not full.resolve().is_relative_to(place.root.resolve()):
        raise ToolError("outside")
    with suppress(OSError):
        return full.read_text()
    return ""


@posix_only
@BOTH_TREES
@ROUNDS
def test_a_link_that_is_swapped_in_while_reading_never_leaks(
    make_tree: MakeTree, rounds: int, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    ways: list[Callable[[], str]] = [
        lambda: place.workspace.read("sub/secret.txt"),
        lambda: place.workspace.list("sub"),
        lambda: place.workspace.search("MARK", "sub"),
    ]
    said: list[str] = []
    refused = number = 0
    with swapping(place):
        while number < rounds or not (said and refused):
            number += 1
            assert number < 100_000, "nothing was swapped, or nothing else happened"
            try:
                said.append(ways[number % 3]())
            except ToolError:
                refused += 1
    assert not any(MARKER in text or "only-outside" in text for text in said)


@posix_only
@pytest.mark.soak
def test_the_same_swapping_does_leak_through_a_check_before_an_opening(tmp_path: Path) -> None:
    """Without this, the test above could pass because nothing happens at the wrong moment."""
    place = Place(tmp_path, TreeByName)
    leaked = 0
    with swapping(place):
        for _ in range(20_000):
            with suppress(ToolError):
                leaked += MARKER in naive_read(place, "sub/secret.txt")
            if leaked:
                break
    assert leaked


@posix_only
@BOTH_TREES
@ROUNDS
def test_a_link_that_is_swapped_in_while_writing_changes_nothing_outside(
    make_tree: MakeTree, rounds: int, tmp_path: Path
) -> None:
    place = Place(tmp_path, make_tree)
    before = place.around()
    with swapping(place):
        for number in range(rounds):
            with suppress(ToolError):
                place.workspace.write("sub/secret.txt", "mine\n", overwrite=True)
            with suppress(ToolError):
                place.workspace.write(f"sub/new/{number}.txt", "mine\n")
    assert place.leaks() == []
    changed = dict(place.around().items() - before.items())
    assert before.keys() <= place.around().keys()
    if make_tree is TreeByName:  # as its docstring says: begun outside, and empty
        changed = {name: seen for name, seen in changed.items() if not is_empty(name, seen)}
    assert changed == {}


def is_empty(name: str, digest: str) -> bool:
    """Whether this is an unfinished file without a byte in it, or the folder that was begun."""
    is_begun = "/.unfinished-" in name or name.endswith("/sub/new")
    return is_begun and digest == hashlib.sha256(b"").hexdigest()
