"""Runs sessions against the loopback server, and tells what they cost in CPU of this process.

    python client_process.py bare http://127.0.0.1:PORT       or: freya
    stdin, line by line:   {"wire": "openai", "stream": false, "turns": 20, "calls": 1,
                            "sessions": 9, "at_once": 1, "pools": 1}
    stdout, line by line:  {"text": "…", "calls": 171, "cpu": 0.31, "per_turn": [0.0011, …]}

`bare` is what the kernel is measured against: httpx, json and nothing else, no check of
anything, tools one after the other. `freya` is an agent as the README builds it. `sessions` run one
after the other, each time `at_once` of them side by side, which share `pools` HTTP clients; with
0 pools they share one client, whose transport is the kernel's `Connections`.
"""

import asyncio
import json
import ssl
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx

INSTRUCTIONS = "You are a helpful assistant. Use the tools to answer."
QUESTION = "What is the weather in all these cities, and how much is all this?"
KEY = "no-key-needed"

Json = dict[str, Any]
Session = Callable[[], Awaitable[str]]


# ---- the tools, and a clock that ticks at each call --------------------------------------------

ticks: list[float] = []


async def get_current_weather(city: str) -> str:
    """Look up the weather of today.

    Args:
        city: English name of the city.
    """
    ticks.append(time.process_time())
    return f"{city}: 21.5 °C, partly cloudy, wind 12 km/h from north-west"


async def calculate(expression: str) -> str:
    """Work out an arithmetic expression.

    Args:
        expression: For example 2 * (3 + 4).
    """
    ticks.append(time.process_time())
    return f"{expression} = 42"


TOOLS = {"get_current_weather": get_current_weather, "calculate": calculate}


# ---- the bare loops ------------------------------------------------------------------------------


def declaration(name: str, about: str, parameter: str, hint: str) -> Json:
    """A tool as the model is told about it, the same for both wires."""
    properties = {parameter: {"type": "string", "description": hint}}
    schema = {"type": "object", "properties": properties, "required": [parameter]}
    return {"name": name, "description": about, "parameters": schema}


DECLARATIONS = [
    declaration("get_current_weather", "Look up the weather of today.", "city", "English name."),
    declaration("calculate", "Work out an expression.", "expression", "For example 2 * (3 + 4)."),
]
OPENAI_TOOLS = [{"type": "function", "function": tool} for tool in DECLARATIONS]
GEMINI_TOOLS = [{"functionDeclarations": DECLARATIONS}]


async def bare_openai(http: httpx.AsyncClient, address: str, *, stream: bool) -> str:
    """One session over the OpenAI wire."""
    url = f"{address}/v1/chat/completions"
    headers = {"authorization": f"Bearer {KEY}"}
    messages: list[Json] = [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": QUESTION},
    ]
    while True:
        body: Json = {"model": "script", "messages": messages, "tools": OPENAI_TOOLS}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
            said = await joined_openai(events(http, url, headers, body))
        else:
            response = await http.post(url, headers=headers, json=body)
            said = json.loads(response.content)["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            return said["content"]
        for call in said["tool_calls"]:
            function = call["function"]
            text = await TOOLS[function["name"]](**json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})


async def joined_openai(chunks: AsyncIterator[Json]) -> Json:
    """The message that these chunks are the pieces of."""
    text = ""
    calls: list[Json] = []
    async for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            text += delta.get("content") or ""
            for piece in delta.get("tool_calls", ()):
                if "id" in piece:
                    calls.append({key: piece[key] for key in ("id", "type", "function")})
                else:
                    function = calls[piece["index"]]["function"]
                    function["arguments"] += piece["function"]["arguments"]
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


async def bare_gemini(http: httpx.AsyncClient, address: str, *, stream: bool) -> str:
    """One session over the Gemini wire."""
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    url = f"{address}/v1beta/models/gemini-script:{method}"
    headers = {"x-goog-api-key": KEY}
    contents: list[Json] = [{"role": "user", "parts": [{"text": QUESTION}]}]
    start = {"systemInstruction": {"parts": [{"text": INSTRUCTIONS}]}, "tools": GEMINI_TOOLS}
    while True:
        body = start | {"contents": contents}
        if stream:
            chunks = [chunk async for chunk in events(http, url, headers, body)]
        else:
            response = await http.post(url, headers=headers, json=body)
            chunks = [json.loads(response.content)]
        parts = [p for c in chunks for p in c["candidates"][0]["content"]["parts"]]
        parts = [part for part in parts if part.get("text") != ""]
        contents.append({"role": "model", "parts": parts})
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        if not calls:
            return "".join(part["text"] for part in parts)
        results = []
        for call in calls:
            text = await TOOLS[call["name"]](**call["args"])
            result = {"id": call["id"], "name": call["name"], "response": {"output": text}}
            results.append({"functionResponse": result})
        contents.append({"role": "user", "parts": results})


async def events(
    http: httpx.AsyncClient, url: str, headers: dict[str, str], body: Json
) -> AsyncIterator[Json]:
    """The JSON of each server-sent event of a streamed answer."""
    async with http.stream("POST", url, headers=headers, json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                yield json.loads(line[6:])


def bare_session(http: httpx.AsyncClient, address: str, order: Json) -> Session:
    """A session of the bare loop, ready to run."""
    loop = {"openai": bare_openai, "gemini": bare_gemini}[order["wire"]]
    return lambda: loop(http, address, stream=order["stream"])


# ---- the agent ----------------------------------------------------------------------------------


def freya_session(http: httpx.AsyncClient, address: str, order: Json) -> Session:
    """A session of one agent, ready to run."""
    from freya_teach import Settings, build_kernel  # noqa: PLC0415 - the bare process goes without

    settings = Settings(
        provider=order["wire"],
        model={"openai": "script", "gemini": "gemini-script"}[order["wire"]],
        models={"script": {"window": 1_000_000}},
        base_url=address,
        api_key=KEY,
        stream=order["stream"],
        max_turns=order["turns"],
    )
    agent = build_kernel(settings, http).agent(TOOLS.values(), instructions=INSTRUCTIONS)

    async def session() -> str:
        return (await agent.run(QUESTION)).text

    return session


MAKE_SESSION = {"bare": bare_session, "freya": freya_session}
"""`peer_process.py` adds other libraries."""


# ---- measuring -----------------------------------------------------------------------------------


async def measured(side_by_side: list[Session], order: Json) -> Json:
    """Run it as often as ordered; raises unless each time the whole script was followed."""
    ticks.clear()
    started = time.process_time()
    texts: list[str] = []
    for _ in range(order["sessions"]):
        if len(side_by_side) == 1:
            texts.append(await side_by_side[0]())
        else:
            texts += await asyncio.gather(*[session() for session in side_by_side])
    cpu = time.process_time() - started
    calls, asking_turns = order["calls"], order["turns"] - 1
    if len(ticks) != calls * asking_turns * len(texts) or len(set(texts)) != 1:
        raise RuntimeError(f"{len(ticks)} tool calls were made, and the answers were {set(texts)}")
    return {
        "text": texts[0],
        "calls": len(ticks),
        "cpu": cpu,
        "per_turn": per_turn(ticks[::calls], asking_turns) if len(side_by_side) == 1 else [],
    }


def per_turn(starts: list[float], turns: int) -> list[float]:
    """CPU from the first call of each turn to that of the next, the mean over all sessions."""
    sessions = [starts[i : i + turns] for i in range(0, len(starts), turns)]
    return [
        sum(session[turn + 1] - session[turn] for session in sessions) / len(sessions)
        for turn in range(turns - 1)
    ]


def new_clients(pools: int, context: ssl.SSLContext) -> list[httpx.AsyncClient]:
    """So many clients with a pool each, or one whose requests share no pool."""
    if not pools:
        from freya_teach.llm.connections import Connections  # noqa: PLC0415 - as above

        return [httpx.AsyncClient(trust_env=False, transport=Connections())]
    return [httpx.AsyncClient(trust_env=False, verify=context) for _ in range(pools)]


async def main(kind: str, address: str) -> None:
    """Carry out the orders on stdin until it closes."""
    make_session = MAKE_SESSION[kind]
    sessions: dict[str, list[Session]] = {}
    clients_of: dict[int, list[httpx.AsyncClient]] = {}
    context = httpx.create_ssl_context()  # takes 20 ms, and may be shared; a client takes 0.04 ms
    async with AsyncExitStack() as stack:
        while line := sys.stdin.readline():
            order = json.loads(line)
            at_once, pools = order.get("at_once", 1), order.get("pools", 1)
            if pools not in clients_of:
                made = new_clients(pools, context)
                clients_of[pools] = [await stack.enter_async_context(http) for http in made]
            if line not in sessions:  # an agent is built once, as a server would
                script = f"{address}/{order['turns']}x{order['calls']}"
                agents = [make_session(http, script, order) for http in clients_of[pools]]
                sessions[line] = [agents[number % len(agents)] for number in range(at_once)]
            print(json.dumps(await measured(sessions[line], order)), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
