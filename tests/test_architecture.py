"""What the layout promises: imports go down, modules name their chapter, the kernel is light."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import freya_teach

PACKAGE = Path(freya_teach.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
LAYERS = (
    "errors",
    "paths",
    "config",
    "ambient",
    "llm",
    "trace",
    "events",
    "prompt",
    "tools",
    "session",
    "context",
    "agent",
    "kernel",
    "freya_teach",  # the package's own __init__, which names what is public
    "lab",
    "cli",
)


def layer_of(module: str) -> str:
    """`freya_teach.llm.sse` → `llm`; the package itself → `freya_teach`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def module_name(path: Path) -> str:
    """Return the dotted name under which a file is imported."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imports_at_run_time(tree: ast.AST) -> list[str]:
    """List what a module imports; what stands under `if TYPE_CHECKING:` is only for the checker."""
    found: list[str] = []
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                found += [name for other in node.orelse for name in imports_at_run_time(other)]
            case ast.Import(names=names):
                found += [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=0) if module:
                submodules = [f"{module}.{alias.name}" for alias in names]
                found += [name for name in submodules if is_module(name)] or [module]
            case ast.ImportFrom():
                found.append("a relative import")
            case _:
                found += imports_at_run_time(node)
    return found


def is_module(name: str) -> bool:
    """Say whether a dotted name is a module of this package."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_a_module_imports_only_from_its_own_layer_and_those_below(path: Path) -> None:
    own = layer_of(module_name(path))
    assert own in LAYERS, f"{own} has no place in the order of layers yet"
    for name in imports_at_run_time(ast.parse(path.read_text(encoding="utf-8"))):
        assert name != "a relative import", "write the full name, so that a reader can follow it"
        if name.split(".")[0] == "freya_teach":
            other = layer_of(name)
            assert LAYERS.index(other) <= LAYERS.index(own), f"{own} imports {name}, which is above"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_the_first_line_of_a_module_ends_with_its_chapter(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first_line = docstring.partition("\n")[0]
    assert re.search(r"\((start|chapter \d+\.\d+)\)$", first_line), first_line


def run_python(code: str, **variables: str) -> str:
    """Run a few lines in a new Python and return what they printed, errors included."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.stdout


def test_importing_the_package_loads_nothing_of_the_course_around_it() -> None:
    """Rich is loaded by httpx itself where it is installed, so only what comes on top counts."""
    code = "import sys, httpx, pydantic; before = set(sys.modules); import freya_teach; "
    loaded = run_python(code + "print(*sorted(set(sys.modules) - before))").split()
    tops = {name.split(".")[0] for name in loaded}
    assert "freya_teach" in tops
    assert tops.isdisjoint({"typer", "rich", "respx", "IPython", "ipywidgets", "jupyter_client"})
    assert {"freya_teach.lab", "freya_teach.cli"}.isdisjoint(loaded)


def test_importing_the_package_prints_nothing_and_asks_for_no_setting() -> None:
    assert run_python("import freya_teach", FREYA_MAX_TURNS="many", FREYA_LIVE="1") == ""
