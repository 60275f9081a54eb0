"""A small but complete agent harness, and the course that explains it. (start)

A name is loaded when it is first used: `import freya_teach.llm.sse` loads what it needs and
nothing else, and importing the package itself does nothing. `build_kernel` wires, and
`Settings.from_env` reads the environment when asked.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from freya_teach.agent.executor import Agent
    from freya_teach.agent.history import History, InMemoryHistory
    from freya_teach.agent.run import Run
    from freya_teach.ambient import Ambient
    from freya_teach.config import RouteSettings, Settings
    from freya_teach.errors import (
        AllRoutesFailed,
        Attempt,
        FreyaError,
        LLMError,
        NeedsSmaller,
        ToolError,
    )
    from freya_teach.kernel import Kernel, build_kernel
    from freya_teach.session.manager import SessionManager
    from freya_teach.session.session import Session
    from freya_teach.tools.registry import ToolRegistry
    from freya_teach.tools.tool import Tool, ToolContext, tool
    from freya_teach.trace import RunResult, Trace

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AllRoutesFailed",
    "Ambient",
    "Attempt",
    "FreyaError",
    "History",
    "InMemoryHistory",
    "Kernel",
    "LLMError",
    "NeedsSmaller",
    "RouteSettings",
    "Run",
    "RunResult",
    "Session",
    "SessionManager",
    "Settings",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolRegistry",
    "Trace",
    "build_kernel",
    "tool",
]

_HOME = {
    "Agent": "agent.executor",
    "AllRoutesFailed": "errors",
    "Ambient": "ambient",
    "Attempt": "errors",
    "FreyaError": "errors",
    "History": "agent.history",
    "InMemoryHistory": "agent.history",
    "Kernel": "kernel",
    "LLMError": "errors",
    "NeedsSmaller": "errors",
    "RouteSettings": "config",
    "Run": "agent.run",
    "RunResult": "trace",
    "Session": "session.session",
    "SessionManager": "session.manager",
    "Settings": "config",
    "Tool": "tools.tool",
    "ToolContext": "tools.tool",
    "ToolError": "errors",
    "ToolRegistry": "tools.registry",
    "Trace": "trace",
    "build_kernel": "kernel",
    "tool": "tools.tool",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home. Source: PEP 562."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
