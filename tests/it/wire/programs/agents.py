"""Eight agents at once: each asks, runs the tools that the model calls, and asks again. A tool is a question to the model
too, and takes a random time, so that the order of all requests changes from run to run. ORDER=reversed starts the agents
in reverse order, and AT_ONCE says how many requests are under way at once."""

import asyncio
import json
import os
import random

import openai
from pydantic import BaseModel

CHAT = openai.AsyncOpenAI(max_retries=8).chat.completions
TURN = asyncio.Semaphore(int(os.environ.get("AT_ONCE", "8")))
SOME_TIME = random.SystemRandom()


class Verdict(BaseModel):
    answer: str
    number: int


def tool(name: str) -> dict:
    parameters = {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


async def ask(**request):
    async with TURN:
        await asyncio.sleep(SOME_TIME.random() / 50)
        return await CHAT.create(model="m", **request)


async def run_tool(agent: int, call) -> dict:
    question = f"Agent {agent} asks its {call.function.name} about {json.loads(call.function.arguments)['topic']}."
    answer = await ask(messages=[{"role": "user", "content": question}], temperature=1)
    return {"role": "tool", "tool_call_id": call.id, "content": answer.choices[0].message.content}


async def agent(n: int) -> str:
    messages = [{"role": "user", "content": f"You are agent {n}. Find out what to do."}]
    for _ in range(2):
        turn = await ask(messages=messages, tools=[tool("historian"), tool("critic"), tool("clerk")])
        calls = turn.choices[0].message.tool_calls
        messages.append(turn.choices[0].message.model_dump(exclude_none=True))
        messages += await asyncio.gather(*[run_tool(n, call) for call in calls])
        messages.append({"role": "user", "content": f"Agent {n}, go on."})
    async with TURN:
        verdict = await CHAT.parse(model="m", messages=messages, response_format=Verdict)
    return f"{n}: {verdict.choices[0].message.parsed} after {json.dumps(messages)}"


async def draw(_: int) -> str:
    """All ask the same: each gets an answer of its own, and nobody knows which."""
    answer = await ask(messages=[{"role": "user", "content": "Draw a number."}], temperature=1)
    return answer.choices[0].message.content


async def main() -> None:
    agents = range(8)
    if os.environ.get("ORDER") == "reversed":
        agents = reversed(agents)
    *stories, draws = await asyncio.gather(*[agent(n) for n in agents], asyncio.gather(*[draw(n) for n in range(8)]))
    print("\n".join(sorted(stories)))
    print("\n".join(sorted(draws)))


asyncio.run(main())
