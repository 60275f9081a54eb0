"""The composer: switch a part of the system prompt, and see what it costs. (chapter 3.3)

    view = lab.view.composer(kernel, tools=[get_current_weather])
    view.play(["override off", "skill weather_report", "time by day", "a minute later"])

A row for each part: where it comes from, and its share of the tokens. Below it, how much of the
prompt is still as it was before the last click, from its start: what a provider's cache can keep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from freya_teach.kernel import Kernel
from freya_teach.lab.views.composer_controls import ComposerControls
from freya_teach.lab.views.composer_picture import draw
from freya_teach.lab.views.composition import Choice, Composition, Material
from freya_teach.lab.views.view import Click, View
from freya_teach.prompt.composer import Composer
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool


class ComposerView(View[Composition]):
    """A view whose steps are the clicks made so far."""

    def __init__(self, material: Material, choice: Choice) -> None:
        super().__init__([Composition(choice, material.compose(choice))], draw)
        self.material = material
        self.changes = material.changes()

    @property
    def now(self) -> Composition:
        """What is shown."""
        return self.frames[self.step - 1]

    def click(self, name: str) -> None:
        """Make one of the changes. Raises `ValueError` for one that there is not."""
        if name not in self.changes:
            known = ", ".join(f'"{each}"' for each in self.changes)
            raise ValueError(f"There is no click {name!r}. There are: {known}.")
        following = self.now.after(name, self.changes[name], self.material)
        self.frames = [*self.frames[: self.step], following]
        self.go(self.step + 1)

    def play(self, clicks: Sequence[Click]) -> ComposerView:
        """Click for the reader; "prev", "next" and numbers go through the clicks made so far."""
        for each in clicks:
            if isinstance(each, int) or each in ("next", "prev"):
                super().play([each])
            else:
                self.click(each)
        return self

    def widget(self) -> Any:
        """The picture behind its controls, an ipywidget; always the same one."""
        if self.shown is None:
            self.shown = ComposerControls(self)
        return self.shown.all


def composer(
    source: Kernel | Composer, tools: Iterable[Tool | Callable[..., Any]] | ToolRegistry = ()
) -> ComposerView:
    """The system prompt of this kernel or composer, with the instructions of these tools.

    The time is first told as finely as the kernel tells it; a composer's, by the minute. Raises
    `PromptError`.
    """
    registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
    offered = registry.active(registry.toolboxes).values()
    instructions = tuple(each.instructions for each in offered if each.instructions)
    prompts = source.prompts if isinstance(source, Kernel) else source.registry
    granularity = source.settings.time_granularity if isinstance(source, Kernel) else "minute"
    choice = Choice(
        override=prompts.override is not None,
        skills=False,
        active="",
        tools=bool(instructions),
        granularity=granularity,
    )
    material = Material(prompts.packaged, prompts.override, source.ambient, instructions)
    return ComposerView(material, choice)
