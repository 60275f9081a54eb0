"""The reference of the kernel: one page for each layer, from the docstrings of its modules."""

from __future__ import annotations

import ast
from pathlib import Path

COURSE = {"lab", "cli"}
"""What is no kernel."""
LAYERS = (
    *("errors", "config", "ambient", "llm", "trace", "events", "prompt", "tools"),
    *("session", "context", "agent", "kernel", "paths"),
)
"""The order in which the layers build on each other; one that is not named comes last."""


def pages(head: str, package: Path, *, quick: bool = False) -> dict[str, str]:
    """File name → text: a list of all modules, and a page for each layer (if `quick`, a title)."""
    layers: dict[str, list[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        layer = path.relative_to(package).parts[0].removesuffix(".py")
        if layer not in COURSE and layer != "__init__" and not path.stem.startswith("__main"):
            layers.setdefault(layer, []).append(path)
    ordered = sorted(layers, key=lambda name: (position(name), name))
    lists = [listed(name, layers[name], package) for name in ordered]
    tree = "```{toctree}\n:hidden:\n\n" + "\n".join(ordered) + "\n```\n"
    written = {
        f"reference/{name}.rst": page(name, [] if quick else layers[name], package)
        for name in ordered
    }
    return {"reference/index.md": head + "\n" + "\n".join(lists) + "\n" + tree, **written}


def position(layer: str) -> int:
    """Where a layer stands in the order."""
    return LAYERS.index(layer) if layer in LAYERS else len(LAYERS)


def listed(layer: str, modules: list[Path], package: Path) -> str:
    """A layer's modules, with the first line of each."""
    rows = [f"- `{module_name(path, package)}`: {first_line(path)}" for path in modules]
    return f"## [{layer}]({layer}.rst)\n\n" + "\n".join(rows) + "\n"


def page(layer: str, modules: list[Path], package: Path) -> str:
    """One layer's page; of the errors it tells which stands under which."""
    parts = [heading(layer, "=")]
    for path in modules:
        name = module_name(path, package)
        if name != f"freya_teach.{layer}":
            parts.append(heading(name.removeprefix("freya_teach."), "-"))
        options = "   :show-inheritance:\n" if layer == "errors" else ""
        parts.append(f".. automodule:: {name}\n{options}")
    return "\n".join(parts)


def heading(text: str, line: str) -> str:
    """A title in reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def module_name(path: Path, package: Path) -> str:
    """`freya_teach/llm/sse.py` → `freya_teach.llm.sse`."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def first_line(path: Path) -> str:
    """What a module says of itself."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]
