"""Toolboxes: what is in them, and what is active."""

from typing import Any

import httpx
import pytest

from freya_teach import Settings, ToolRegistry, build_kernel, tool
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


def a_function() -> str:
    """Say nothing."""
    return ""


@pytest.mark.parametrize("given", [a_function, tool(a_function), "a_function", 42])
async def test_tools_that_are_in_no_list_are_refused_with_what_was_given(given: Any) -> None:
    said = rf"in a list, even a single one, .*; this is of the type {type(given).__name__}$"
    async with httpx.AsyncClient() as http:
        kernel = build_kernel(Settings(), http)
        with pytest.raises(ConfigError, match=said):
            kernel.agent(given)
        with pytest.raises(ConfigError, match=said):
            kernel.agent(toolboxes={"mine": given})
        with pytest.raises(ConfigError, match="a tool is a function, and this is of the type None"):
            kernel.agent([None])  # type: ignore[list-item]


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


def test_a_copy_can_be_added_to_and_the_registry_stays_as_it_is() -> None:
    made = registry()
    more = made.copy()
    more.add("meta", [named("activate_skill")])
    more.add("files", [named("read_file")])
    assert list(more.active(["default", "files"])) == [
        *("find_tools", "activate_skill", "a", "b", "read_file")
    ]
    assert list(made.active()) == ["find_tools", "a", "b"]
    made.register("default", [named("c")])
    assert list(more.active()) == ["find_tools", "activate_skill", "a", "b"]


def test_no_tool_is_added_whose_name_is_taken() -> None:
    made = registry()
    for toolbox in ("meta", "web", "new"):
        with pytest.raises(ConfigError, match="two tools called 'a'"):
            made.add(toolbox, [named("a")])
    assert made.toolboxes == ("default", "meta", "web", "empty")


@pytest.mark.parametrize("toolbox", ["", "my files", "a/b", "x" * 65, "文件"])
def test_an_id_that_a_model_could_not_write_is_refused(toolbox: str) -> None:
    with pytest.raises(ConfigError, match="is no id of a toolbox"):
        registry().register(toolbox, [])


def test_all_tools_are_known_whether_active_or_not() -> None:
    made = registry()
    assert [name in made for name in ("a", "fetch", "find_tools", "web", "", 3)] == [
        *(True, True, True, False, False, False)
    ]


def test_the_tools_of_one_toolbox_can_be_listed() -> None:
    assert [tool.name for tool in registry().tools_of("default")] == ["a", "b"]
    with pytest.raises(ConfigError, match="no toolbox 'nope'"):
        registry().tools_of("nope")
