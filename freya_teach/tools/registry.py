"""Which tools there are, and which of them a session may use. (chapter 4.3)

Tools live in toolboxes. The toolbox `meta` is always active, the others when the session has
them on. A name belongs to one tool in all toolboxes together: the model knows nothing of boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from freya_teach.errors import ConfigError
from freya_teach.tools.tool import TOOL_NAME, Tool, tool

DEFAULT_TOOLBOX = "default"
ALWAYS_ACTIVE = "meta"
LIST_TOOLBOXES = "list_toolboxes"
"""The tool with which a model finds out what a session could switch on."""


class ToolRegistry:
    """Toolboxes by id, each a set of tools by name."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._boxes: dict[str, dict[str, Tool]] = {}
        self.register(DEFAULT_TOOLBOX, tools)

    def register(self, toolbox: str, tools: Iterable[Tool | Callable[..., Any]]) -> None:
        """Put a toolbox in, or in the place of the one with this id.

        Plain functions become tools. Raises `ConfigError` for a name that is taken, and for an id
        that a model could not write without a mistake.
        """
        if not TOOL_NAME.fullmatch(toolbox):
            raise ConfigError(f"{toolbox!r} is no id of a toolbox: use letters, digits, _ and -")
        box: dict[str, Tool] = {}
        taken = {name for id_, other in self._boxes.items() if id_ != toolbox for name in other}
        for entry in _each(tools):
            new = entry if isinstance(entry, Tool) else tool()(entry)  # None is no function, too
            if new.name in box or new.name in taken:
                raise ConfigError(f"there are two tools called {new.name!r}: rename one of them")
            box[new.name] = new
        self._boxes[toolbox] = box

    def add(self, toolbox: str, tools: Iterable[Tool | Callable[..., Any]]) -> None:
        """Put more tools into a toolbox. Raises `ConfigError` for a name that is taken."""
        self.register(toolbox, [*self._boxes.get(toolbox, {}).values(), *_each(tools)])

    def copy(self) -> ToolRegistry:
        """A registry with the same toolboxes, which can be changed without changing this one."""
        made = ToolRegistry()
        made._boxes = dict(self._boxes)
        return made

    def __contains__(self, name: object) -> bool:
        """Whether any toolbox, active or not, has a tool of this name."""
        return any(name in box for box in self._boxes.values())

    @property
    def toolboxes(self) -> tuple[str, ...]:
        """The ids of all toolboxes, in the order of registration."""
        return tuple(self._boxes)

    def tools_of(self, toolbox: str) -> tuple[Tool, ...]:
        """The tools of one toolbox. Raises `ConfigError` for one that does not exist."""
        if toolbox not in self._boxes:
            raise ConfigError(f"no toolbox {toolbox!r}; there are: {', '.join(self._boxes)}")
        return tuple(self._boxes[toolbox].values())

    def active(self, toolboxes: Iterable[str] = (DEFAULT_TOOLBOX,)) -> Mapping[str, Tool]:
        """The tools of these toolboxes and of `meta`, by name.

        Raises `ConfigError` for a toolbox that does not exist.
        """
        found = dict(self._boxes.get(ALWAYS_ACTIVE, {}))
        for toolbox in toolboxes:
            found |= {tool.name: tool for tool in self.tools_of(toolbox)}
        return found


def _each(tools: Any) -> Iterable[Tool | Callable[..., Any]]:
    """The tools as they are. Raises `ConfigError` for one that is in no list."""
    if isinstance(tools, Iterable) and not isinstance(tools, str):  # a text iterates its letters
        return tools
    raise ConfigError(
        "tools are given in a list, even a single one, as in [calculate]; this is of the type "
        f"{type(tools).__name__}"
    )
