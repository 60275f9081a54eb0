"""What the package offers at its front door, and that opening the door does nothing."""

import ast
import inspect
import os
import subprocess
import sys

import pytest

import freya_teach


def test_every_public_name_exists_and_none_is_named_twice() -> None:
    assert len(set(freya_teach.__all__)) == len(freya_teach.__all__)
    assert [name for name in freya_teach.__all__ if not hasattr(freya_teach, name)] == []


def test_nothing_public_is_missing_from_the_list() -> None:
    """A name is imported for the type checker, has a home to be loaded from, and is listed."""
    tree = ast.parse(inspect.getsource(freya_teach))
    imported = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: f"freya_teach.{home}" for name, home in vars(freya_teach)["_HOME"].items()}
    assert imported == homes
    assert sorted(homes) == freya_teach.__all__


def test_a_name_that_does_not_exist_is_told_as_by_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'freya_teach' has no attribute 'agnet'"):
        _ = freya_teach.agnet
    assert set(freya_teach.__all__) <= set(dir(freya_teach))


def test_the_list_is_sorted_so_that_a_name_is_found() -> None:
    assert freya_teach.__all__ == sorted(freya_teach.__all__)


def test_every_public_name_comes_from_the_kernel_and_says_what_it_is() -> None:
    for name in freya_teach.__all__:
        value = getattr(freya_teach, name)
        assert value.__module__.startswith("freya_teach."), name
        assert not value.__module__.startswith(("freya_teach.lab", "freya_teach.cli")), name
        assert value.__doc__, name


WATCHED_IMPORT = """
import sys, threading, logging, asyncio
import httpx, pydantic
seen = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and arguments[1].strip("rbt"):
        seen.append(f"writes {arguments[0]}")
    if event.startswith(("socket.", "subprocess.", "shutil.", "os.mkdir", "os.putenv", "os.sys")):
        seen.append(event)
handlers = list(logging.root.handlers)
modules = set(sys.modules)
sys.dont_write_bytecode = True
sys.addaudithook(watch)
import freya_teach
assert threading.active_count() == 1, "a thread was started"
assert logging.root.handlers == handlers, "logging was set up"
assert logging.getLogger("freya_teach").handlers == [], "logging was set up"
print(seen)
"""


def test_importing_writes_nothing_starts_nothing_connects_nowhere_and_needs_no_setting() -> None:
    environ = {**os.environ, "FREYA_MAX_TURNS": "many", "FREYA_PROVIDER": "nobody"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCHED_IMPORT],
        check=False,
        env=environ,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
