"""A small but complete agent harness, and the course that explains it. (start)

Importing does nothing. `build_kernel` wires, `Settings.from_env` reads the environment when asked.
"""

from freya_teach.agent.executor import Agent
from freya_teach.agent.history import History, InMemoryHistory
from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import FreyaError, LLMError, ToolError
from freya_teach.kernel import Kernel, build_kernel
from freya_teach.tools.registry import ToolRegistry
from freya_teach.tools.tool import Tool, ToolContext, tool
from freya_teach.trace import RunResult, Trace

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Ambient",
    "FreyaError",
    "History",
    "InMemoryHistory",
    "Kernel",
    "LLMError",
    "RunResult",
    "Settings",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolRegistry",
    "Trace",
    "build_kernel",
    "tool",
]
