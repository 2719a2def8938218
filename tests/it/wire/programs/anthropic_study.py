"""Anthropic's SDK: async, streams of events, a tool whose input is streamed, and the SDK's own retries."""

import asyncio

import anthropic

QUESTION = [{"role": "user", "content": "Name a colour."}]
TOOL = {"name": "weather", "input_schema": {"type": "object", "properties": {"topic": {"type": "string"}}}}


def streamed() -> None:
    client = anthropic.Anthropic(max_retries=6)
    for event in client.messages.create(model="m", max_tokens=9, messages=QUESTION, stream=True):
        print(event.to_json(indent=None))
    with client.messages.stream(model="m", max_tokens=9, messages=QUESTION, tools=[TOOL]) as stream:
        for event in stream:
            print(event.type)
        message = stream.get_final_message()
    print(message.content, message.usage.output_tokens)
    result = {"type": "tool_result", "tool_use_id": message.content[0].id, "content": "fine"}
    messages = [*QUESTION, {"role": "assistant", "content": message.content}, {"role": "user", "content": [result]}]
    print(client.messages.create(model="m", max_tokens=9, messages=messages, tools=[TOOL]).to_json(indent=None))


async def together() -> None:
    client = anthropic.AsyncAnthropic(max_retries=6)

    async def one(n: int) -> str:
        question = [{"role": "user", "content": f"Question {n}"}]
        if n % 2:
            return (await client.messages.create(model="m", max_tokens=9, messages=question)).content[0].text
        async with client.messages.stream(model="m", max_tokens=9, messages=question) as stream:
            return "".join([text async for text in stream.text_stream])

    print(await asyncio.gather(*[one(n) for n in range(8)]))


streamed()
asyncio.run(together())
