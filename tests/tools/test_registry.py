"""Toolboxes: what is in them, and what is active."""

import pytest

from freya_teach import ToolRegistry, tool
from freya_teach.errors import ConfigError


def named(name: str) -> object:
    """Make a tool of this name."""

    @tool(name=name)
    def probe() -> str:
        return name

    return probe


def registry() -> ToolRegistry:
    """Make a registry with four toolboxes, one of them always active."""
    made = ToolRegistry([named("a"), named("b")])
    made.register("meta", [named("find_tools")])
    made.register("web", [named("fetch")])
    made.register("empty", [])
    return made


@pytest.mark.parametrize(
    ("toolboxes", "expected"),
    [
        ((), ["find_tools"]),
        (("default",), ["find_tools", "a", "b"]),
        (("default", "web"), ["find_tools", "a", "b", "fetch"]),
        (("web", "web", "empty"), ["find_tools", "fetch"]),
        (("meta",), ["find_tools"]),
    ],
)
def test_active_are_the_named_toolboxes_and_always_meta(
    toolboxes: tuple[str, ...], expected: list[str]
) -> None:
    assert list(registry().active(toolboxes)) == expected


def test_without_a_choice_the_default_toolbox_is_active() -> None:
    assert list(registry().active()) == ["find_tools", "a", "b"]


def test_an_unknown_toolbox_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="no toolbox 'wbe'; there are: default, meta, web, empty"):
        registry().active(["wbe"])


@pytest.mark.parametrize("toolbox", ["default", "web", "new"])
def test_a_name_belongs_to_one_tool_in_all_toolboxes_together(toolbox: str) -> None:
    made = registry()
    clash = [named("x"), named("x")]
    with pytest.raises(ConfigError, match="there are two tools called 'x': rename one of them"):
        made.register(toolbox, clash)
    with pytest.raises(ConfigError, match="there are two tools called 'find_tools'"):
        made.register(toolbox, [named("find_tools")])
    assert list(made.active(["default", "web"])) == ["find_tools", "a", "b", "fetch"]


def test_a_toolbox_registered_again_is_replaced() -> None:
    made = registry()
    made.register("default", [named("b"), named("c")])
    assert made.toolboxes == ("default", "meta", "web", "empty")
    assert list(made.active()) == ["find_tools", "b", "c"]


def test_a_plain_function_becomes_a_tool() -> None:
    def double(number: int) -> int:
        """Twice the number."""
        return 2 * number

    assert ToolRegistry([double]).active()["double"].description == "Twice the number."


def test_what_is_active_is_a_copy() -> None:
    made = registry()
    dict(made.active()).clear()
    active = made.active()
    assert isinstance(active, dict)
    active.clear()
    assert list(made.active()) == ["find_tools", "a", "b"]
