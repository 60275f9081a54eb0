"""A solution as source that a learner can paste into a cell and run. (start)

A solution names things that its own module imports or defines. What the notebook does not have yet
comes along; a name that only an annotation uses is left out with its annotation.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

LINT_MARK = re.compile(r"# noqa: [A-Z0-9, ]+ - ")
"""What the linter is told in a solution; the reason after it is for the learner too."""
BARE_LINT_MARK = re.compile(r"  # noqa: [A-Z0-9, ]+$", re.MULTILINE)
Tree = ast.AST


@dataclass(frozen=True, slots=True)
class _Home:
    """The module of a solution: what it imports, and what it defines."""

    imports: dict[str, str]
    defined: dict[str, str]


def source_of(solution: Callable[..., Any]) -> str:
    """The solution's source, below what it needs and the notebook does not have."""
    home = _home_of(inspect.getsource(inspect.getmodule(solution)))  # type: ignore[arg-type]
    there = set(vars(sys.modules["__main__"])) | set(dir(builtins))
    known = there | set(home.imports)
    whole = [_bare(textwrap.dedent(inspect.getsource(solution)), known)]
    imports: set[str] = set()
    wanted = _used(ast.parse(whole[0])) - there
    seen = {solution.__name__}
    while wanted := wanted - seen:
        seen |= wanted
        imports |= {home.imports[name] for name in wanted & set(home.imports)}
        more = [_bare(home.defined[name], known) for name in wanted & set(home.defined)]
        whole = [*sorted(more), *whole]
        wanted = set().union(*(_used(ast.parse(each)) for each in more)) - there
    head = "\n".join(sorted(imports))
    return "\n\n\n".join([head, *whole] if head else whole)


def _home_of(source: str) -> _Home:
    home = _Home({}, {})
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for each in node.names:
                line = f"from {node.module} import {ast.unparse(each)}"
                home.imports[each.asname or each.name] = line
        elif isinstance(node, ast.Import):
            for each in node.names:
                name = (each.asname or each.name).partition(".")[0]
                home.imports[name] = f"import {ast.unparse(each)}"
        elif name := _defines(node):
            home.defined[name] = ast.get_source_segment(source, node) or ""
    return home


def _defines(node: ast.stmt) -> str:
    """The name that a statement at the top of a module gives to something, or nothing."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return next((each.id for each in targets if isinstance(each, ast.Name)), "")


def _used(tree: Tree) -> set[str]:
    """The names that the code takes from outside."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {node.id for node in names} - own


def _bare(source: str, known: set[str]) -> str:
    """The source without the linter's marks, and without annotations that name what is unknown."""
    lines = BARE_LINT_MARK.sub("", LINT_MARK.sub("# ", source.rstrip())).splitlines()
    for node in reversed(list(_annotations(ast.parse("\n".join(lines))))):
        if {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} <= known:
            continue
        before = lines[node.lineno - 1].encode()[: node.col_offset]
        behind = lines[node.end_lineno - 1].encode()[node.end_col_offset :]  # type: ignore[operator]
        head = re.sub(r"\s*(:|->)\s*$", "", before.decode())
        lines[node.lineno - 1 : node.end_lineno] = [head + behind.decode()]
    return "\n".join(lines)


def _annotations(tree: Tree) -> Iterator[ast.expr]:
    """All annotations that may go, in the order of the source."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns:
            found.append(node.returns)
    yield from sorted(found, key=lambda each: (each.lineno, each.col_offset))
