"""Tools that change what the session itself may do. (chapter 4.3)

They are always active, and what they change counts from the next turn on: the prompt and the
tools of the turn that is going on have been sent already.
"""

from __future__ import annotations

from freya_teach.errors import ToolError
from freya_teach.prompt.registry import PromptRegistry
from freya_teach.tools.registry import ALWAYS_ACTIVE, ToolRegistry
from freya_teach.tools.tool import Active, Tool, ToolContext, tool

ACTIVATE_SKILL = "activate_skill"


def skill_tools(prompts: PromptRegistry) -> tuple[Tool, Tool]:
    """`activate_skill` and `deactivate_skill` for the skills of this registry."""

    def activate_skill(skill_id: str, context: ToolContext) -> str:  # noqa: D417 - for the model
        """Switch a skill on: its instructions are added to yours. Any other skill is switched off.

        Args:
            skill_id: The id from the list of available skills, for example "weather_report".
        """
        skills = {skill.id: skill for skill in prompts.skills()}
        skill = skills.get(skill_id)
        if skill is None:
            known = ", ".join(skills) or "none"
            raise ToolError(f"There is no skill {skill_id[:60]!r}. Skills: {known}.")
        _session(context).activate_skill(skill.id)
        return f"The skill {skill.name!r} is on from your next turn."

    def deactivate_skill(context: ToolContext) -> str:
        """Switch off the skill that is on."""
        session = _session(context)
        if not session.active_skill:
            raise ToolError("No skill is on, so there is nothing to switch off.")
        was = session.active_skill
        session.activate_skill("")
        return f"The skill {was!r} is off from your next turn."

    return tool(activate_skill), tool(deactivate_skill)


def toolbox_tools(registry: ToolRegistry) -> tuple[Tool, Tool, Tool]:
    """`list_toolboxes`, `activate_toolbox` and `deactivate_toolbox` for this registry."""

    def list_toolboxes(context: ToolContext) -> str:
        """List the toolboxes: which are on, and what is in them. Call it when no tool fits."""
        on = _session(context).active_toolboxes
        return "\n".join(
            f"- {box} ({'on' if box in on else 'off'}): {_tool_names(registry, box)}"
            for box in _switchable(registry)
        )

    def activate_toolbox(toolbox_id: str, context: ToolContext) -> str:  # noqa: D417
        """Switch a toolbox on: from your next turn you can call its tools.

        Args:
            toolbox_id: An id from list_toolboxes, for example "files".
        """
        box, session = _known(registry, toolbox_id), _session(context)
        if box in session.active_toolboxes:
            return f"The toolbox {box!r} is on already. Its tools: {_tool_names(registry, box)}."
        session.activate_toolbox(box)
        return f"From your next turn you can call: {_tool_names(registry, box)}."

    def deactivate_toolbox(toolbox_id: str, context: ToolContext) -> str:  # noqa: D417
        """Switch a toolbox off when you are done with it: fewer tools are easier to choose from.

        Args:
            toolbox_id: An id from list_toolboxes, for example "files".
        """
        box, session = _known(registry, toolbox_id), _session(context)
        if box not in session.active_toolboxes:
            return f"The toolbox {box!r} is off already."
        session.deactivate_toolbox(box)
        return f"The toolbox {box!r} is off from your next turn."

    return tool(list_toolboxes), tool(activate_toolbox), tool(deactivate_toolbox)


def _switchable(registry: ToolRegistry) -> list[str]:
    """All toolboxes with something in them, but not the one that is always on."""
    boxes = registry.toolboxes
    return [box for box in boxes if box != ALWAYS_ACTIVE and registry.tools_of(box)]


def _tool_names(registry: ToolRegistry, toolbox: str) -> str:
    return ", ".join(tool.name for tool in registry.tools_of(toolbox))


def _known(registry: ToolRegistry, toolbox_id: str) -> str:
    boxes = _switchable(registry)
    if toolbox_id not in boxes:
        known = ", ".join(boxes) or "none"
        raise ToolError(f"There is no toolbox {toolbox_id[:60]!r}. Toolboxes: {known}.")
    return toolbox_id


def _session(context: ToolContext) -> Active:
    if context.active is None:
        raise ToolError("This session cannot switch skills or toolboxes. Go on with what you have.")
    return context.active
