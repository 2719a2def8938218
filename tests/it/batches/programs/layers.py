"""Asks in two layers, each at once: the second asks about the answers of the first."""

import asyncio
import os

from openai import AsyncOpenAI

COUNT = int(os.environ.get("COUNT", "40"))


async def main():
    client = AsyncOpenAI(max_retries=0)

    async def ask(text):
        messages = [{"role": "user", "content": text}]
        reply = await client.chat.completions.create(model="gpt-5-mini", messages=messages)
        return reply.choices[0].message.content

    first = await asyncio.gather(*(ask(f"Question {n % (COUNT - 3)}") for n in range(COUNT)))
    second = await asyncio.gather(*(ask(f"What is {text}?") for text in sorted(set(first))[:12]))
    print(len(first), len(set(first)), " ".join(second))


asyncio.run(main())
