"""Agents that speak with the Responses API over a WebSocket, their other transport."""

import asyncio

from agents import Agent, Runner, set_default_openai_responses_transport, set_tracing_disabled

set_tracing_disabled(True)
set_default_openai_responses_transport("websocket")


async def main():
    agent = Agent(name="One", instructions="Be brief.", model="m")
    for word in ["red", "red", "blue"]:
        print((await Runner.run(agent, word)).final_output)


asyncio.run(main())
