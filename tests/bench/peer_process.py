"""Another library on the script of `client_process.py`, with the same orders and answers.

    python peer_process.py pydantic_ai http://127.0.0.1:PORT

It runs in an environment of its own, which `peers.py` makes: the library, and httpx for the rest.
All of them speak OpenAI's wire and take whole answers.
"""
# ruff: noqa: PLC0415 - each library is imported where it is, and the others are not

import asyncio
import json
import os
import sys
from typing import Any

import client_process as client

Json = dict[str, Any]

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
TOOLS = list(client.TOOLS.values())


def openai_sdk(_http: object, address: str, _order: Json) -> client.Session:
    """OpenAI's own client, in a loop by hand."""
    from openai import AsyncOpenAI

    ask = AsyncOpenAI(base_url=f"{address}/v1", api_key=client.KEY).chat.completions.create

    async def session() -> str:
        messages: list[Any] = [
            {"role": "system", "content": client.INSTRUCTIONS},
            {"role": "user", "content": client.QUESTION},
        ]
        while True:
            reply = await ask(model="script", messages=messages, tools=client.OPENAI_TOOLS)
            said = reply.choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return said.content
            for call in said.tool_calls:
                text = await client.TOOLS[call.function.name](**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    return session


def pydantic_ai(_http: object, address: str, _order: Json) -> client.Session:
    """Pydantic AI's agent."""
    from pydantic_ai import Agent, UsageLimits
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{address}/v1", api_key=client.KEY)
    model = OpenAIChatModel("script", provider=provider)
    agent = Agent(model, instructions=client.INSTRUCTIONS, tools=TOOLS)

    async def session() -> str:
        limits = UsageLimits(request_limit=None)
        return (await agent.run(client.QUESTION, usage_limits=limits)).output

    return session


def openai_agents(_http: object, address: str, order: Json) -> client.Session:
    """OpenAI's Agents SDK, over Chat Completions, without its tracing."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
    from openai import AsyncOpenAI

    wire = AsyncOpenAI(base_url=f"{address}/v1", api_key=client.KEY)
    model = OpenAIChatCompletionsModel(model="script", openai_client=wire)
    tools = [function_tool(each) for each in TOOLS]
    agent = Agent(name="bench", instructions=client.INSTRUCTIONS, model=model, tools=tools)

    async def session() -> str:
        return (await Runner.run(agent, client.QUESTION, max_turns=order["turns"])).final_output

    return session


def langchain(_http: object, address: str, order: Json) -> client.Session:
    """LangChain's agent, which is a graph of LangGraph's."""
    from langchain.agents import create_agent
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="script", base_url=f"{address}/v1", api_key=client.KEY)
    agent = create_agent(model, list(map(tool, TOOLS)), system_prompt=client.INSTRUCTIONS)
    steps = {"recursion_limit": 2 * order["turns"] + 5}

    async def session() -> str:
        said = await agent.ainvoke({"messages": [("user", client.QUESTION)]}, steps)
        return said["messages"][-1].content

    return session


client.MAKE_SESSION |= {
    "openai": openai_sdk,
    "pydantic_ai": pydantic_ai,
    "openai_agents": openai_agents,
    "langchain": langchain,
}

if __name__ == "__main__":
    asyncio.run(client.main(*sys.argv[1:]))
    os._exit(0)  # some libraries leave threads behind that never end
