"""A study with OpenAI's SDK: sync, async, streams, tools, and the SDK's own retries."""

import asyncio
import sys

import openai

QUESTION = [{"role": "user", "content": "Name a colour."}]
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]


def main() -> None:
    client = openai.OpenAI(max_retries=5)
    for _ in range(4):
        answer = client.chat.completions.create(model="m", temperature=1, messages=QUESTION)
        print(answer.choices[0].message.content, answer.usage.total_tokens)
    with_tool = client.chat.completions.create(model="m", messages=QUESTION, tools=TOOLS)
    print(with_tool.choices[0].message.tool_calls[0].function.arguments)
    for _ in range(3):
        for event in client.chat.completions.create(model="m", messages=QUESTION, stream=True):
            print(event.model_dump_json())
    try:
        for event in client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "break off"}], stream=True
        ):
            print(event.model_dump_json())
    except Exception as error:
        print(type(error).__name__)
    print(asyncio.run(ask_together()))


async def ask_together() -> list[str]:
    client = openai.AsyncOpenAI(max_retries=5)

    async def one(n: int) -> str:
        question = [{"role": "user", "content": f"Question {n}"}]
        if n % 2:
            answer = await client.chat.completions.create(model="m", messages=question)
            return answer.choices[0].message.content
        stream = await client.chat.completions.create(model="m", messages=question, stream=True)
        return "".join([event.choices[0].delta.content or "" for event in [e async for e in stream] if event.choices])

    return await asyncio.gather(*[one(n) for n in range(8)])


if __name__ == "__main__":
    main()
    sys.exit(0)
