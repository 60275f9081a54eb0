"""Which route answers. (chapter 5.3)

    for each route, the preferred one first, those that have just failed last:
        ask; on a failure that may pass, wait and ask again
        on a failure that stays: the next route
    nobody has answered: say what each of them said

What is done about which failure stands in `policy.py`. Two things hold for all of them: once a
word of an answer has been shown, nobody else is asked, because a second answer would follow half
of a first one; and no wait goes beyond the budget of the settings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import httpx

from freya_teach.ambient import Ambient
from freya_teach.config import RouteSettings, Settings
from freya_teach.errors import (
    ConfigError,
    ContextOverflowError,
    LLMError,
    NeedsSmaller,
    RequestRefused,
    UnsupportedContent,
)
from freya_teach.llm import gemini, openai
from freya_teach.llm.asking import Asking
from freya_teach.llm.client import HttpModelClient, ignore
from freya_teach.llm.health import Health
from freya_teach.llm.mending import mended
from freya_teach.llm.models import Overrides, check_overrides, facts_for
from freya_teach.llm.policy import (
    MALFORMED_RETRIES,
    is_malformed,
    policy_for,
    wait_before,
)
from freya_teach.llm.protocol import (
    Adapter,
    Delta,
    Exchange,
    ModelRequest,
    Route,
    host_of,
)
from freya_teach.llm.request_log import RequestLog
from freya_teach.llm.request_tokens import request_tokens
from freya_teach.llm.tokens import CalibratedCounter, TokenCounter

logger = logging.getLogger(__name__)

ADAPTERS: dict[str, Adapter] = {"openai": openai.ADAPTER, "gemini": gemini.ADAPTER}


def route_from(settings: RouteSettings, models: Overrides | None = None) -> Route:
    """The route that the settings describe, with what is known of its model."""
    return Route(
        settings.provider,
        settings.model_name,
        settings.endpoint,
        settings.api_key.get_secret_value(),
        facts_for(settings.model_name, host_of(settings.endpoint), models),
    )


def routes_from(settings: Settings) -> tuple[Route, ...]:
    """The route of the settings and its fallbacks. Raises `ConfigError` for a wrong override."""
    check_overrides(settings.models)
    return tuple(route_from(each, settings.models) for each in (settings, *settings.fallbacks))


@dataclass(slots=True, eq=False)
class Proxy:
    """A `ModelClient` that asks its routes, by preference, until one of them answers."""

    routes: tuple[Route, ...]
    http: httpx.AsyncClient
    settings: Settings
    ambient: Ambient
    log: RequestLog | None = None
    adapters: Mapping[str, Adapter] = field(default_factory=dict)
    """Wires beside the two that the kernel speaks, by the name of their provider."""
    counter: TokenCounter = field(default_factory=CalibratedCounter)
    health: Health = field(init=False)
    _clients: list[HttpModelClient] = field(init=False)

    def __post_init__(self) -> None:
        if not self.routes:
            raise ConfigError("no route: name at least one provider and model")
        self.health = Health(self.routes, self.ambient.monotonic)
        self._clients = [self._client(route) for route in self.routes]

    def _client(self, route: Route) -> HttpModelClient:
        known = {**ADAPTERS, **self.adapters}
        if route.provider not in known:
            raise ConfigError(
                f"there is no adapter for {route.provider!r}: known are {', '.join(known)}. "
                "Hand your own in: build_kernel(..., adapters={...})"
            )
        adapter = known[route.provider]
        return HttpModelClient(
            self.http, adapter, route, self.settings, self.ambient, self.log, self.counter
        )

    async def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None] = ignore
    ) -> Exchange:
        """Ask until one has answered; `Exchange.attempts` tells what it took.

        A delta of text or reasoning is reported once; one of a call may come again, from the next
        attempt, which begins anew.

        Raises `NeedsSmaller` when no route's window is large enough, `AllRoutesFailed` when more
        than one route has failed, else the `LLMError` of the only one that could be asked.
        """
        asking = Asking(request, on_delta)
        for place in self.health.order(request.prefer):
            if not self._may_be_asked(place, asking):
                continue
            asking.routes_tried += 1
            try:
                return await self._ask_route(place, asking)
            except NeedsSmaller as problem:
                if asking.too_small is None or problem.window > asking.too_small.window:
                    asking.too_small = problem
                asking.note(self.routes[place], problem.kind, None, 0.0, str(problem))
            except LLMError as problem:
                self._give_up(place, asking, problem)
            except (UnsupportedContent, ConfigError) as problem:
                if asking.failure is None:
                    raise
                asking.note(self.routes[place], problem.kind, None, 0.0, str(problem))
        raise asking.outcome()

    def next_route(self, prefer: str = "") -> Route:
        """The route that would be asked first now."""
        return self.routes[next(iter(self.health.order(prefer)))]

    # ---- one route -------------------------------------------------------------------------

    async def _ask_route(self, place: int, asking: Asking) -> Exchange:
        """Ask one route as often as its failures allow. Raises the last one."""
        client, request = self._clients[place], asking.request
        retries = malformed = 0
        is_mended = False
        while True:
            try:
                exchange = await self._attempt(client, request, asking)
            except RequestRefused as problem:
                new = None if is_mended else mended(problem, request, client.route)
                if new is None or asking.has_shown:
                    raise
                is_mended, (request, route) = True, new
                client = replace(client, route=route)
                logger.warning("mended and sent once more to %s: %s", route.name, problem)
            except LLMError as problem:
                retries += 1
                if not await self._may_ask_again(problem, retries, asking):
                    raise
            else:
                malformed += is_malformed(exchange.reply)
                again = is_malformed(exchange.reply) and malformed <= MALFORMED_RETRIES
                if not again or asking.has_shown or not self.settings.retry_seconds:
                    self.health.answered(place)
                    return exchange

    async def _attempt(
        self, client: HttpModelClient, request: ModelRequest, asking: Asking
    ) -> Exchange:
        """Ask once, and note what came of it."""
        started = self.ambient.monotonic()
        try:
            exchange = await client.complete(request, asking.show)
        except NeedsSmaller:
            raise
        except LLMError as problem:
            seconds = self.ambient.monotonic() - started
            asking.note(client.route, problem.kind, problem.status, seconds, str(problem))
            problem.attempts = tuple(asking.attempts)
            raise
        error = "malformed_call" if is_malformed(exchange.reply) else ""
        asking.note(client.route, error, exchange.status, exchange.seconds, "")
        return replace(exchange, attempts=tuple(asking.attempts))

    async def _may_ask_again(self, problem: LLMError, retry: int, asking: Asking) -> bool:
        """Wait as the failure demands, if it may pass and the budget allows the wait."""
        if asking.has_shown or retry > policy_for(problem).retries:
            return False
        wait = wait_before(retry, problem.retry_after, self.ambient.random())
        if asking.waited + wait > self.settings.retry_seconds:
            return False
        logger.info("asked again in %.1f s: %s", wait, problem)
        await self.ambient.sleep(wait)
        asking.waiting = wait
        asking.waited += wait
        return True

    # ---- from one route to the next --------------------------------------------------------

    def _give_up(self, place: int, asking: Asking, problem: LLMError) -> None:
        """Take note of a route's failure. Raises it where no other route may be asked."""
        route, row = self.routes[place], policy_for(problem)
        self.health.failed(place, max(row.cool_down, problem.retry_after or 0))
        if isinstance(problem, ContextOverflowError):
            problem.route = route.name
            problem.window = 0 if route.facts.guessed else route.facts.window
            problem.tokens = request_tokens(asking.request, self.counter)
            if row.failover == "larger window":
                asking.overflow = problem
        if row.failover == "no" or asking.has_shown:
            raise problem
        asking.failure = problem
        if len(self.routes) > 1:
            level = logging.ERROR if row.tell else logging.WARNING
            logger.log(level, "%s has failed (%s): %s", route.name, row.name, problem)

    def _may_be_asked(self, place: int, asking: Asking) -> bool:
        """After an overflow, only a route that is known to have a larger window."""
        facts = self.routes[place].facts
        if asking.overflow is None:
            return True
        return not facts.guessed and facts.window > asking.overflow.window
