"""Which route answers. (chapter 5.3)

One route for now, chosen by the settings: it finds the adapter and asks it. Health, retries
and failover have their place here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import Settings
from freya_teach.errors import ConfigError
from freya_teach.llm import gemini, openai
from freya_teach.llm.client import HttpModelClient, ignore
from freya_teach.llm.protocol import Adapter, Delta, Exchange, ModelRequest, Route
from freya_teach.llm.request_log import RequestLog

ADAPTERS: dict[str, Adapter] = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}


def route_from(settings: Settings) -> Route:
    """The one route that the settings describe."""
    return Route(
        settings.provider,
        settings.model_name,
        settings.endpoint,
        settings.api_key.get_secret_value(),
    )


class Proxy:
    """A `ModelClient` that sends each request to the first route that can take it."""

    def __init__(
        self,
        routes: tuple[Route, ...],
        http: httpx.AsyncClient,
        settings: Settings,
        ambient: Ambient,
        log: RequestLog | None = None,
    ) -> None:
        if not routes:
            raise ConfigError("no route: name at least one provider and model")
        self.routes = routes
        self._clients = [
            HttpModelClient(http, ADAPTERS[route.provider], route, settings, ambient, log)
            for route in routes
        ]

    async def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None] = ignore
    ) -> Exchange:
        """Ask the first route. Raises `LLMError`."""
        return await self._clients[0].complete(request, on_delta)
